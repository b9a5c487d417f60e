// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every way to run an einsum gives the plain product: its steps are executed on a simulated mesh, and move the
/// predicted bytes. Extents are uneven.

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include <support/simulated_mesh.hpp>

#include "../../examples/explorer/ways.hpp"
#include "plan/problem_text.hpp"

using namespace ostraka::testing;
using explorer::einsum_way;
using ostraka::planner::einsum_problem;
using ostraka::planner::planned_step;

namespace {

position picked(spec const& s, position const& labels) {
  position p{};
  for (int i = 0; i < s.rank; ++i) p[i] = labels[s.label[i]];
  return p;
}

// The product summed over all labels that the result lacks, in one place.
void multiply(einsum_problem const& p, std::vector<whole_tensor> const& operands, whole_tensor& result) {
  box all;
  all.rank = p.sizes.labels;
  for (int l = 0; l < p.sizes.labels; ++l) all.end[l] = p.sizes.label[l];
  for_each(all, [&](position const& at) {
    std::int64_t product = 1;
    for (int k = 0; k < p.operands.size(); ++k)
      product *= operands[static_cast<std::size_t>(k)][picked(p.operands[k], at)];
    result[picked(p.result, at)] += product;
  });
}

// The fault of a way, or "".
std::string fault_of(einsum_way const& w, einsum_problem const& p, std::vector<whole_tensor> const& operands,
                     whole_tensor const& expected) {
  simulated_mesh mesh(p.sizes);
  std::map<int, sharded_tensor> tensors;
  for (int k = 0; k < p.operands.size(); ++k)
    tensors[k] = mesh.scatter(operands[static_cast<std::size_t>(k)], p.operands[k], static_cast<std::uint64_t>(k) + 1);
  for (planned_step const& s : w.plan.steps) {
    if (!mesh.error.empty()) return mesh.error;
    if (!ostraka::contracts(s.kind)) {
      if (tensors.count(s.operand) == 0) return "a tensor is moved that is not there";
      mesh.execute(s, tensors[s.operand]);
      continue;
    }
    std::vector<sharded_tensor> factors;
    for (int factor : {s.left, s.right})
      if (factor != ostraka::planner::no_tensor) {
        if (tensors.count(factor) == 0) return "a factor is not there";
        factors.push_back(tensors[factor]);
        tensors.erase(factor);
      }
    tensors[s.operand] = mesh.contract(factors, s.to);
  }
  if (tensors.size() != 1 || tensors.begin()->first != ostraka::planner::the_result) return "something is left over";
  mesh.expect_holds(tensors.begin()->second, expected, p.result);
  mesh.expect(mesh.moved == w.elements, "it moves another number of elements");
  return mesh.error;
}

}  // namespace

TEST_CASE("every way computes the einsum and moves what it says") {
  int run = 0;
  for (char const* tensors :
       {"[i_X, j_Y] [j_X, k_Y] -> [i_X, k_Y]", "[i, j_X] [j, k] -> [i_X, k]", "[i, j_X] [j_X, k] -> [i, k] {U_Y}",
        "[i_XY, j] [j, k] -> [i, k_X]", "[i, j] {U_X} [j, k_Y] -> [i_X, k_Y]", "[b_X, i, j_Y] [b_Y, j] -> [i]",
        "[i_X, j_Y] -> [j]", "[i, j_X] {U_Y} -> [i_Y]", "[i_X, j] [j_Y, k] [k, l_X] -> [i_X, l_Y]",
        "[i, j_X] [j_Y, k] [k_X, l] [l, i] -> [k_Y]"}) {
    INFO(std::string(tensors));
    einsum_problem const p = problem(tensors, "b=3 i=5 j=7 k=4 l=3 X=2 Y=3");
    std::vector<whole_tensor> operands;
    for (int k = 0; k < p.operands.size(); ++k) {
      operands.emplace_back(p.operands[k], p.sizes);
      for (std::size_t n = 0; n < operands.back().value.size(); ++n)
        operands.back().value[n] = noise(static_cast<std::uint64_t>(k) + 5, n);
    }
    whole_tensor expected(p.result, p.sizes);
    multiply(p, operands, expected);
    for (einsum_way const& w : explorer::ways_of_einsum(p)) {
      CHECK(fault_of(w, p, operands, expected) == "");
      ++run;
    }
  }
  CHECK(run > 150);
}
