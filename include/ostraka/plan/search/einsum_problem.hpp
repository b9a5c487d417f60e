// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The problem that the einsum planner solves, and the effort of its search.

#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/spec/policy.hpp>

namespace ostraka::planner {

/// An einsum: the shardings of its operands, and the result that the program names.
struct einsum_problem {
  bounded_list<spec, max_operands> operands{};
  spec result{};
  extents sizes{};  ///< the sizes to plan for; nominal if unknown
  admit rule = admit::any;
  double element_weight = 0;       ///< multiplications that weigh as much as one element moved (os::least_time); 0: the
                                   ///< default balance (price.hpp)
  int directions = 0;              ///< of the rings in which contractions overlap moves (os::overlapped)
  reduction how = reduction::sum;  ///< how labels and parts are reduced; a reduction other than a sum needs a single
                                   ///< operand. @pre partial operands and results are of that kind
};

/// The parts of a search that may be left out. With all of them the search is exact: no plan is cheaper.
struct search_effort {
  bool all_orders = true;     ///< otherwise only orders that dynamic programming finds from sizes alone
  bool all_partitions = true;  ///< else, if there are many, a mesh axis is tried only on labels that it divides in an
                               ///< operand or in the result, and in an order that occurs there
  int beam = 320;             ///< the most shardings of a product that are followed
};

/// The default effort. It is exact up to three operands on three mesh axes and four on two.
[[nodiscard]] constexpr search_effort effort_for(int operands, int mesh_axes) {
  bool const few_axes = mesh_axes <= (operands > 3 ? 2 : 3);
  return {operands <= 4, few_axes, few_axes || operands <= 2 ? 320 : 128};
}

}  // namespace ostraka::planner
