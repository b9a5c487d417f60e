// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The contractions that do the move next to them (plan/decisions/fused.hpp): C[I, K] = A[I, J_X] B[J, K] in operations
/// of more and more labels. The moved label becomes two loops, and a contraction has 16 at most.

#include <doctest/doctest.h>

#include <ostraka/plan/decisions/fused.hpp>

using namespace ostraka::planner;
using ostraka::step;

namespace {

constexpr int fused_in_an_operation_of(int labels) {
  enum { i, j, k };
  spec split, whole, b, c;
  mesh_order x;
  x.push_back(0);
  split.push_back(i);
  split.push_back(j, x);
  whole.push_back(i);
  whole.push_back(j);
  b.push_back(j);
  b.push_back(k);
  c.push_back(i);
  c.push_back(k);
  bounded_list<planned_step, 2> steps;
  steps.push_back({step::all_gather, 0, mesh_set::of(0), split, whole});
  steps.push_back({step::contract, the_result, {}, whole, c, 0, 1});
  extents e;
  e.labels = labels;
  e.mesh_axes = 1;
  e.mesh[0] = 4;
  for (int l = 0; l < labels; ++l) e.label[l] = l < 3 ? 512 : 1;
  return fused_with(steps, 1, messages_at(steps, 1, e), e);
}

}  // namespace

TEST_CASE("a contraction has no more loops than there is room for") {
  static_assert(max_labels == max_loops);
  for (int labels = 3; labels < max_labels; ++labels) CHECK(fused_in_an_operation_of(labels) == 0);
  CHECK(fused_in_an_operation_of(max_labels) == -1);
}
