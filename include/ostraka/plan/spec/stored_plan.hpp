// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan as a program stores it for operations that are started or have limits, with room for exactly its
/// steps. An einsum_plan has room for the longest plan, some 15 KB, which a compiler would emit for each operation of a
/// program. The plans of other operations are packed (packed_plan.hpp).

#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// A feasible plan with `Operands` operands and `Steps` steps, for sizes of `Labels` labels and `MeshAxes` mesh axes.
template <int Operands, int Steps, int Labels, int MeshAxes>
struct stored_plan {
  spec operands[Operands]{};
  spec result{};
  std::int64_t label_sizes[Labels > 0 ? Labels : 1]{};
  std::int64_t mesh_sizes[MeshAxes > 0 ? MeshAxes : 1]{};
  reduction how = reduction::sum;
  double element_weight = 0;
  int directions = 0;
  planned_step steps[Steps > 0 ? Steps : 1]{};

  constexpr explicit stored_plan(einsum_plan const& plan)
      : result(plan.result), how(plan.how), element_weight(plan.element_weight), directions(plan.directions) {
    for (int k = 0; k < Operands; ++k) operands[k] = plan.operands[k];
    for (int l = 0; l < Labels; ++l) label_sizes[l] = plan.sizes.label[l];
    for (int m = 0; m < MeshAxes; ++m) mesh_sizes[m] = plan.sizes.mesh[m];
    for (int i = 0; i < Steps; ++i) steps[i] = plan.steps[i];
  }
};

/// A read-only view of a plan that is stored elsewhere. Its members have the names of einsum_plan's.
struct plan_view {
  list_view<spec> operands{};
  spec const* result = nullptr;
  list_view<std::int64_t> label_sizes{};
  list_view<std::int64_t> mesh_sizes{};
  reduction how = reduction::sum;
  double element_weight = 0;
  int directions = 0;
  list_view<planned_step> steps{};

  constexpr plan_view() = default;  ///< no plan
  template <int Operands, int Steps, int Labels, int MeshAxes>
  constexpr plan_view(stored_plan<Operands, Steps, Labels, MeshAxes> const& plan)
      : operands{plan.operands, Operands},
        result(&plan.result),
        label_sizes{plan.label_sizes, Labels},
        mesh_sizes{plan.mesh_sizes, MeshAxes},
        how(plan.how),
        element_weight(plan.element_weight),
        directions(plan.directions),
        steps{plan.steps, Steps} {}
  constexpr plan_view(einsum_plan const& plan)
      : operands{plan.operands.item, plan.operands.count},
        result(&plan.result),
        label_sizes{plan.sizes.label, plan.sizes.labels},
        mesh_sizes{plan.sizes.mesh, plan.sizes.mesh_axes},
        how(plan.how),
        element_weight(plan.element_weight),
        directions(plan.directions),
        steps{plan.steps.item, plan.steps.count} {}

  /// A plan of the moves of one tensor.
  constexpr plan_view(spec const& from, spec const& to, reshard_steps const& moves)
      : operands{&from, 1}, result(&to), steps{moves.begin(), moves.size()} {}

  /// The plan as a whole value again, for functions that plan and compare.
  [[nodiscard]] constexpr einsum_plan value() const {
    einsum_plan plan;
    for (spec const& s : operands) plan.operands.push_back(s);
    plan.result = *result;
    for (std::int64_t const n : label_sizes) plan.sizes.label[plan.sizes.labels++] = n;
    for (std::int64_t const n : mesh_sizes) plan.sizes.mesh[plan.sizes.mesh_axes++] = n;
    plan.how = how;
    plan.element_weight = element_weight;
    plan.directions = directions;
    plan.feasible = true;
    for (planned_step const& s : steps) plan.steps.push_back(s);
    return plan;
  }
};

}  // namespace ostraka::planner

namespace ostraka::detail {

/// `Types::plan`, stored for running.
template <class Types>
inline constexpr planner::stored_plan<Types::plan.operands.size(), Types::plan.steps.size(), Types::plan.sizes.labels,
                                      Types::plan.sizes.mesh_axes>
    stored_plan_of{Types::plan};

}  // namespace ostraka::detail
