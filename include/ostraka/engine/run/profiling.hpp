// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a tool of Kokkos' profiling interface is told: a region for every operation, one within it for every step of its plan.
///
///     ostraka einsum C[I_X, K_Y] = A[I_X, J_Y] · B[J_Y, K], moves 3,145,728 B      of a device: all devices' bytes over their number, as plans tell them
///       ostraka contract, 134,217,728 flop                                         of the device with the largest blocks; of one operand, no number
///       ostraka reduce_scatter<Y>, moves 3,145,728 B
///     ostraka map [I_X, K_Y], reads and writes 2,097,152 B                         of this device's memory
///
/// Names are made where a tool listens. Else a region costs the question whether one does.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/lowering/decide.hpp>
#include <ostraka/plan/spec/describe.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::engine {

/// Does a tool listen?
inline bool tool_listens() { return Kokkos::Tools::profileLibraryLoaded(); }

/// A region for the length of a scope; `push()` begins it, and is called where a tool listens.
class profiled {
 public:
  template <class Push>
  explicit profiled(Push const& push, bool heard = tool_listens()) : heard_(heard) {
    if (heard_) push();
  }
  ~profiled() {
    if (heard_) Kokkos::Profiling::popRegion();
  }
  profiled(profiled const&) = delete;
  profiled& operator=(profiled const&) = delete;

 private:
  bool heard_;
};

[[gnu::cold, gnu::noinline]] inline void push_region(std::string const& what) {
  Kokkos::Profiling::pushRegion("ostraka " + what);
}

/// Of an operation on blocks: `map [I_X, J], reads and writes 12 B`.
[[gnu::cold, gnu::noinline]] inline void push_blocks(std::string_view operation, planner::spec const& s,
                                                     planner::naming const& names, char const* does,
                                                     std::int64_t bytes) {
  push_region(std::string(operation) + ' ' + planner::describe(s, names) + ", " + does + ' ' +
              planner::describe_bytes(bytes));
}

/// Of an operation with a plan.
[[gnu::cold, gnu::noinline]] inline void push_run(execution_context const& w, planner::spec const* operands, int count,
                                                  planner::spec const& result, planner::planned_step const* steps,
                                                  int number, int element_bytes) {
  std::int64_t elements = 0;
  for (int i = 0; i < number; ++i) elements += planner::elements_moved(steps[i], w.sizes);
  push_region(std::string(w.operation) +
              (w.names.labels ? ' ' + planner::describe_equation(operands, count, result, w.names) : std::string()) +
              ", moves " + planner::describe_bytes(planner::bytes_per_device(elements, element_bytes, w.sizes)));
}

[[gnu::cold, gnu::noinline]] inline void push_run(execution_context const& w, planner::plan_view const& plan,
                                                  int element_bytes) {
  push_run(w, plan.operands.begin(), plan.operands.size(), *plan.result, plan.steps.begin(), plan.steps.size(),
           element_bytes);
}

namespace detail {

[[gnu::cold]] inline std::string describe_move(execution_context const& w, planner::planned_step const& s,
                                               int element_bytes) {
  std::string const axes = w.names.mesh_axes
                               ? '<' + planner::detail::mesh_names(planner::detail::in_order(s.axes), w.names) + '>'
                               : std::string();
  std::string const name = std::string(planner::name_of(s.kind)) + axes;
  if (!communicates(s.kind)) return name;
  return name + ", moves " +
         planner::describe_bytes(
             planner::bytes_per_device(planner::elements_moved(s, w.sizes), element_bytes, w.sizes));
}

}  // namespace detail

/// Of a step that is no contraction.
[[gnu::cold, gnu::noinline]] inline void push_step(execution_context const& w, planner::planned_step const& s,
                                                   int element_bytes) {
  push_region(detail::describe_move(w, s, element_bytes));
}

/// Of step number `at` of a plan: `contract, 24 flop`, or with the move that is one with it, `contract with
/// all_gather<X>, moves 12 B, 24 flop`.
[[gnu::cold, gnu::noinline]] inline void push_step(execution_context const& w, planner::plan_view const& plan, int at,
                                                   int element_bytes) {
  planner::planned_step const& s = plan.steps[at];
  if (!contracts(s.kind)) return push_step(w, s, element_bytes);
  planner::step_decision const decided =
      w.here.nowhere ? planner::step_decision{} : planner::decide(plan, w.sizes)[at];
  std::string text(planner::name_of(decided.ring >= 0 ? step::ring_contraction : step::contract));
  int const with = decided.fused;
  if (with >= 0) text += " with " + detail::describe_move(w, plan.steps[with], element_bytes);
  if (s.right != planner::no_tensor) {
    planner::tensor_states tensors(plan);
    for (int i = 0; i < at; ++i) tensors.after(plan.steps[i]);
    text +=
        ", " +
        planner::describe_number(2 * planner::detail::products_of(tensors.of(s.left), &tensors.of(s.right), w.sizes)) +
        " flop";
  }
  push_region(text);
}

}  // namespace ostraka::engine
