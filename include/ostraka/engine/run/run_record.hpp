// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What the runs of a plan on equal blocks have in common, found out once: where its tensors lie at each step,
/// which moves its contractions do as well, the loops of its products, and where in one block the pieces of its
/// workspace belong. It follows from the plan, the extents and the device's place alone, so that a loop over C[I, K] <-
/// A[I, J_X] B[J, K] does its messages and its products and nothing else. Addresses are not among it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/update.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/memory/placement.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/moves.hpp>
#include <ostraka/engine/moves/region.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/plan/lowering/decide.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::engine {

/// One local product: its loops, and where its blocks (left, right, result) begin, from where those of the tensors do.
struct product_record {
  contraction loops;
  std::int64_t at[3] = {0, 0, 0};
  plan_ticket plan{};

  template <class Exec, class T>
  void multiply(Exec const& exec, T const* left, T const* right, T* result, update<T> const& how) {
    contract(exec, loops, left + at[0], right + at[1], result + at[2], how, plan);
  }
};

/// What a move in a group of more members has in common with others is not remembered: it has an entry for each.
inline constexpr int remembered_members = 32;

/// One step.
template <class T>
struct step_record {
  bool known = false;
  region<T const> shape{};     ///< of what it leaves; its address says nothing
  std::int64_t view_at = 0;    ///< of a view: where it begins, from where the block did
  dynamic_array<product_record> products{};  ///< of a contraction, in the order of the parts of what is moved
  std::size_t own = 0;         ///< which of them is of the own part
  bool own_first = false;      ///< it is multiplied before the others have arrived
  bool summed = false;         ///< the products add up
  std::int64_t others = 0;     ///< elements of the others' parts

  dynamic_array<move_record<T>> moves{};  ///< one, of a move that is one

  [[nodiscard]] move_record<T>& of_move(int members) {
    if (members > remembered_members) return passing_move<T>();
    if (moves.empty()) moves.push_back({});
    return moves.front();
  }

  void forget() {
    known = false;
    products.clear();
    for (move_record<T>& m : moves) m.forget();
  }
};

/// All steps, and where operands and result lie.
template <class T>
struct run_record {
  planner::extents sizes{};
  int axis[planner::max_mesh_axes]{};
  planner::coordinates here{};
  bool scales = false;  ///< alpha is not 1
  bool adds = false;    ///< beta is not 0
  bool is_decided = false;
  planner::decisions decided{};  ///< what all devices have in common
  dynamic_array<region<T const>> operands{};
  region<T> result{};
  dynamic_array<step_record<T>> steps{};
  placement places{};

  void begin(execution_context const& w, update<T> const& how, int count) {
    sizes = w.sizes;
    here = w.here;
    for (int m = 0; m < planner::max_mesh_axes; ++m) axis[m] = w.axis[m];
    scales = scales_by(how);
    adds = adds_to(how);
    is_decided = false;
    steps.resize(static_cast<std::size_t>(count));
    for (step_record<T>& s : steps) s.forget();
    operands.clear();
    places.forget();
  }

  /// Decides on the plan, once. A process that is no device of the mesh does nothing, and so nothing together.
  void decide_on(planner::plan_view const& plan) {
    if (is_decided) return;
    decided = here.nowhere ? planner::decisions{} : planner::decide(plan, sizes);
    is_decided = true;
  }

  [[nodiscard]] bool is_of(execution_context const& w, update<T> const& how) const {
    if (scales != scales_by(how) || adds != adds_to(how) || here.nowhere != w.here.nowhere || !(sizes == w.sizes))
      return false;
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (axis[m] != w.axis[m] || here.at[m] != w.here.at[m]) return false;
    return true;
  }

 private:
  static bool scales_by(update<T> const& how) { return !(how.alpha == accumulator_of_t<T>(1)); }
  static bool adds_to(update<T> const& how) { return !(how.beta == accumulator_of_t<T>(0)); }
};

/// The last runs of one plan by one host thread.
template <class T>
class run_memory {
 public:
  schedule_memory schedules;

  /// The record of runs here, of so many steps; a new one has no operands.
  run_record<T>& of(execution_context const& w, update<T> const& how, int steps) {
    for (auto const& r : records_)
      if (r->is_of(w, how)) return *r;
    bool const is_new = records_.size() < most;
    if (is_new) records_.push_back(std::make_unique<run_record<T>>());
    run_record<T>& r = *records_[next_];
    next_ = (next_ + 1) % most;
    r.begin(w, how, steps);
    r.places.stays_first(is_new);
    return r;
  }

 private:
  static constexpr std::size_t most = 32;
  dynamic_array<std::unique_ptr<run_record<T>>> records_;
  std::size_t next_ = 0;
};

}  // namespace ostraka::engine
