// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The regions that tools of Kokkos' profiling interface and the engine's own listeners (engine/record) see:
/// one for every operation, and one within it for every step of its plan.
///
///     ostraka einsum C[I_X, K_Y] = A[I_X, J_Y] · B[J_Y, K], moves 3,145,728 B
///       ostraka contract, 134,217,728 flop
///       ostraka reduce_scatter<Y>, moves 3,145,728 B
///     ostraka map [I_X, K_Y], reads and writes 2,097,152 B
///
/// Bytes that a plan moves are the average of all devices, as in plans. Flops are those of the device with the largest
/// blocks; the contraction of a single operand has no number. Bytes read and written are this device's. Names are
/// made only if a tool or a listener is there. Otherwise a region costs one test.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/record/events.hpp>
#include <ostraka/plan/decisions/decide.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine {

/// True if a tool of Kokkos or an engine listener is there.
inline bool is_profiled() { return Kokkos::Tools::profileLibraryLoaded() || has_listeners(); }

/// The same for an operation, which looks for tools once: before Kokkos 4.6, that compares all functions of the tools.
inline bool is_profiled(execution_context const& w) { return w.tools_listen || has_listeners(); }

/// Begins a region of this name, the same for tools and listeners. Its event needs no name and no kind.
[[gnu::cold, gnu::noinline]] inline void push_named(std::string const& name, event e) {
  Kokkos::Profiling::pushRegion(name);
  if (!has_listeners()) return;
  e.kind = event_kind::begins;
  e.name = name;
  report(e);
}

/// Begins a region of the library.
[[gnu::cold, gnu::noinline]] inline void push_region(std::string const& what, event const& e = {}) {
  push_named(join_text("ostraka ", what), e);
}

/// Ends the region that began last.
[[gnu::cold, gnu::noinline]] inline void pop_region() {
  Kokkos::Profiling::popRegion();
  if (has_listeners()) report({});
}

/// A region for the length of a scope. `push()` begins it, and is called only if a tool or a listener is there.
class profiled {
 public:
  template <class Push>
  explicit profiled(Push const& push, bool is_recorded = is_profiled()) : is_recorded_(is_recorded) {
    if (is_recorded_) push();
  }
  /// The same within an operation.
  template <class Push>
  profiled(execution_context const& w, Push const& push) : profiled(push, is_profiled(w)) {}
  ~profiled() {
    if (is_recorded_) pop_region();
  }
  profiled(profiled const&) = delete;
  profiled& operator=(profiled const&) = delete;

 private:
  bool is_recorded_;
};

/// Begins the region of an operation on blocks: `map [I_X, J], reads and writes 12 B`.
template <class = void>
[[gnu::cold, gnu::noinline]] void push_blocks(std::string_view operation, planner::spec const& s,
                                              planner::naming const& names, char const* does, std::int64_t bytes) {
  push_region(join_text(operation, ' ', planner::describe(s, names), ", ", does, ' ', planner::describe_bytes(bytes)));
  if (has_listeners()) report_computed(0, bytes, 0);
}

namespace detail {

// Like planner::elements_moved, but caches the result for an exchange among many devices, which may take a loop over
// them.
[[gnu::cold, gnu::noinline]] inline std::int64_t elements_of_move(planner::planned_step const& s,
                                                                  planner::extents const& e) {
  constexpr std::int64_t many = 64;
  bool const exchanges = s.kind == step::all_to_all || s.kind == step::block_exchange;
  if (!exchanges || e.ways(s.axes) <= many) return planner::elements_moved(s, e);
  struct moved_before {
    planner::spec from, to;
    planner::extents sizes;
    std::int64_t elements;
  };
  using moves_of_thread = recent_entries<moved_before, 32>;
  static thread_local constinit moves_of_thread* of_thread = nullptr;
  moves_of_thread& known = per_thread(of_thread);
  for (moved_before const& x : known)
    if (x.from == s.from && x.to == s.to && x.sizes == e) return x.elements;
  return known.add({s.from, s.to, e, planner::elements_moved(s, e)}).elements;
}

// Returns `all_gather<X>`.
[[gnu::cold]] inline std::string name_of_step(execution_context const& w, planner::planned_step const& s) {
  std::string const name(planner::name_of(s.kind));
  if (w.names.mesh_axes == nullptr || contracts(s.kind)) return name;
  return join_text(name, '<', planner::detail::mesh_names(planner::detail::in_order(s.axes), w.names), '>');
}

// The blocks that an operation with a plan uses, for its event.
class block_uses {
 public:
  [[gnu::cold]] block_uses() = default;
  [[gnu::cold]] ~block_uses() = default;

  [[gnu::cold, gnu::noinline]] void add_to(event& e, execution_context const& w, planner::spec const* operands,
                                           int count, planner::spec const& result, planner::planned_step const* steps,
                                           int number, int element_bytes, void const* const* blocks) {
    for (int k = 0; k <= count; ++k) {
      std::string& tensor = words_[k].tensor;
      tensor = join_text(static_cast<char>('A' + k), planner::describe(k < count ? operands[k] : result, w.names));
      uses_[k].block = blocks[k];
      uses_[k].tensor = tensor;
    }
    bool contracted = false;
    for (int i = 0; i < number; ++i) {
      planner::planned_step const& s = steps[i];
      contracted = contracted || contracts(s.kind);
      if (contracts(s.kind)) continue;
      int const k = count == 1 ? 0 : s.operand;
      if (!contracted && k >= 0 && k < count && uses_[k].move.empty()) add_move(k, w, s, element_bytes);
      if (s.operand == planner::the_result || (count == 1 && !contracted)) add_move(count, w, s, element_bytes);
    }
    e.uses = uses_;
    e.operands = count;
  }

 private:
  [[gnu::cold, gnu::noinline]] void add_move(int k, execution_context const& w, planner::planned_step const& s,
                                             int element_bytes) {
    auto& [tensor, move, exactly] = words_[k];
    move = exactly = name_of_step(w, s);
    for (planner::spec const* state : {&s.from, &s.to})
      for (int i = 0; i < state->rank; ++i)
        append_text(exactly, ' ', s.from.find(state->label[i]), '/',
                    planner::detail::mesh_names(state->over[i], w.names));
    uses_[k].move = move;
    uses_[k].exactly = exactly;
    uses_[k].bytes = planner::bytes_per_device(elements_of_move(s, w.sizes), element_bytes, w.sizes);
  }

  struct words_of_use {
    std::string tensor, move, exactly;
  };

  block_use uses_[planner::max_operands + 1];
  words_of_use words_[planner::max_operands + 1];
};

}  // namespace detail

/// Begins the region of an operation with a plan; blocks[k] is operand k's, and the result's comes last.
[[gnu::cold, gnu::noinline]] inline void push_run(execution_context const& w, planner::spec const* operands, int count,
                                                  planner::spec const& result, planner::planned_step const* steps,
                                                  int number, int element_bytes, bool resumed = false,
                                                  void const* const* blocks = nullptr) {
  std::int64_t elements = 0;
  for (int i = 0; i < number; ++i) elements += detail::elements_of_move(steps[i], w.sizes);
  event e;
  e.bytes = planner::bytes_per_device(elements, element_bytes, w.sizes);
  e.resumed = resumed;
  for (int k = 0; k <= count; ++k)
    e.memory += planner::largest_block(k < count ? operands[k] : result, w.sizes) * element_bytes;
  std::string plan;
  if (has_listeners())
    for (int i = 0; i < number; ++i) append_text(plan, i > 0 ? ", " : "", detail::name_of_step(w, steps[i]));
  e.plan = plan;
  detail::block_uses uses;
  if (has_listeners() && blocks != nullptr && w.names.labels != nullptr && w.names.mesh_axes != nullptr)
    uses.add_to(e, w, operands, count, result, steps, number, element_bytes, blocks);
  push_region(join_text(w.operation,
                        w.names.labels ? join_text(' ', planner::describe_equation(operands, count, result, w.names))
                                       : std::string(),
                        ", moves ", planner::describe_bytes(e.bytes)),
              e);
}

[[gnu::cold, gnu::noinline]] inline void push_run(execution_context const& w, planner::plan_view const& plan,
                                                  int element_bytes, bool resumed = false,
                                                  void const* const* blocks = nullptr) {
  push_run(w, plan.operands.begin(), plan.operands.size(), *plan.result, plan.steps.begin(), plan.steps.size(),
           element_bytes, resumed, blocks);
}

namespace detail {

// Describes a move, with the plan's bytes per device.
[[gnu::cold]] inline std::string describe_move(execution_context const& w, planner::planned_step const& s,
                                               int element_bytes, std::int64_t& bytes) {
  std::string const name = name_of_step(w, s);
  if (!communicates(s.kind)) return name;
  bytes = planner::bytes_per_device(elements_of_move(s, w.sizes), element_bytes, w.sizes);
  return join_text(name, ", moves ", planner::describe_bytes(bytes));
}

}  // namespace detail

/// Begins the region of a step other than a contraction.
[[gnu::cold, gnu::noinline]] inline void push_step(execution_context const& w, planner::planned_step const& s,
                                                   int element_bytes) {
  event e;
  e.region = region_kind::step;
  push_region(detail::describe_move(w, s, element_bytes, e.bytes), e);
}

/// Begins the region of step number `at` of a plan: `contract, 24 flop`, or with the move fused into it, `contract with
/// all_gather<X>, moves 12 B, 24 flop`.
[[gnu::cold, gnu::noinline]] inline void push_step(execution_context const& w, planner::plan_view const& plan, int at,
                                                   int element_bytes) {
  planner::planned_step const& s = plan.steps[at];
  if (!contracts(s.kind)) return push_step(w, s, element_bytes);
  planner::step_decision const decided = w.here.nowhere ? planner::step_decision{} : planner::decide(plan, w.sizes)[at];
  std::string text(planner::name_of(decided.ring >= 0 ? step::ring_contraction : step::contract));
  int const with = decided.fused;
  event e;
  e.region = region_kind::step;
  if (with >= 0) append_text(text, " with ", detail::describe_move(w, plan.steps[with], element_bytes, e.bytes));
  if (s.right != planner::no_tensor) {
    planner::tensor_states tensors(plan);
    for (int i = 0; i < at; ++i) tensors.after(plan.steps[i]);
    e.flops = 2 * planner::detail::products_of(tensors.of(s.left), &tensors.of(s.right), w.sizes);
    append_text(text, ", ", planner::describe_number(e.flops), " flop");
  }
  push_region(text, e);
}

}  // namespace ostraka::engine
