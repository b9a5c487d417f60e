// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// All ways to run an einsum: the literature's layers with figures by hand, and each way against the price of the
/// planner's own search; no two are the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "../../examples/explorer/ways.hpp"
#include "plan/problem_text.hpp"

using namespace explorer;
using namespace ostraka::planner;
using ostraka::step;
using ostraka::testing::problem;

namespace {

std::vector<einsum_way> ways(std::string_view tensors, std::string_view sizes) {
  return ways_of_einsum(problem(tensors, sizes));
}

// The steps that move, as in "all_gather 0, reduce_scatter -1": the kind and the tensor.
std::string moves(einsum_way const& w) {
  std::string text;
  for (planned_step const& s : w.plan.steps)
    if (ostraka::communicates(s.kind))
      text += (text.empty() ? "" : ", ") +
              std::string(s.kind == step::all_gather       ? "gather "
                          : s.kind == step::all_reduce     ? "reduce "
                          : s.kind == step::reduce_scatter ? "scatter "
                                                           : "exchange ") +
              std::to_string(s.operand);
  return text;
}

einsum_way const* find(std::vector<einsum_way> const& all, std::string_view with) {
  auto const at = std::find_if(all.begin(), all.end(), [&](einsum_way const& w) { return moves(w) == with; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("Megatron's layer out: the sum is reduced, or the operands are gathered") {
  auto const all = ways("[b, f_X] [f_X, d] -> [b, d]", "b=1024 f=4096 d=1024 X=4");
  REQUIRE(!all.empty());
  // 2 · 3/4 of the product, added over four devices.
  CHECK(moves(all[0]) == "reduce -1");
  CHECK(all[0].elements == 2 * 3 * 1024 * 1024);
  CHECK(all[0].flops == 2 * 1024 * 1024 * 1024L);
  CHECK(all[0].one_call());
  einsum_way const* const gathered = find(all, "gather 0, gather 1");
  REQUIRE(gathered != nullptr);
  CHECK(gathered->elements == 3 * 1024 * 4096 + 3 * 4096 * 1024);  // each device gets three quarters of both
  CHECK(gathered->flops == 4 * all[0].flops);
  CHECK(gathered->beaten);
  CHECK(!gathered->one_call());
  REQUIRE(gathered->calls.size() == 3);
  CHECK(gathered->calls[0].moves);
  CHECK(gathered->calls[1].moves);
  CHECK(!gathered->calls[2].moves);
  // The results of the two gathers exist beside operands and result.
  CHECK(gathered->workspace >= 1024 * 4096 + 4096 * 1024);
}

TEST_CASE("the two-dimensional feed-forward layer, in and out") {
  auto const in = ways("[b_X, s, d_Y] [d_X, f_Y] -> [b_X, s, f_Y]", "b=32 s=512 d=1024 f=4096 X=4 Y=2");
  CHECK(moves(in[0]) == "gather 0, gather 1");
  CHECK(in[0].elements == (2 - 1) * (32 * 512 * 1024) + (4 - 1) * (1024 * 4096));
  CHECK(in[0].flops == 2L * (32 / 4) * 512 * 1024 * (4096 / 2));
  auto const out = ways("[b_X, s, f_Y] [f_Y, d_X] -> [b_X, s, d_Y]", "b=32 s=512 d=1024 f=4096 X=4 Y=2");
  CHECK(moves(out[0]) == "gather 1, scatter -1");
  CHECK(out[0].elements == (4 - 1) * (4096 * 1024) + (2 - 1) * (32 * 512 * 1024));
}

TEST_CASE("one tensor's gather against the other's") {
  auto const all = ways("[i_X, j] [j, k_X] -> [i_X, k]", "i=64 j=64 k=1024 X=4");
  einsum_way const* const right = find(all, "gather 1");
  einsum_way const* const left = find(all, "gather 0, exchange -1");
  REQUIRE(right != nullptr);
  REQUIRE(left != nullptr);
  CHECK(right->elements == 3 * 64 * 1024);
  CHECK(left->elements == 3 * 64 * 64 + 64 * 1024 * 3 / 4);  // an all-to-all moves (n − 1)/n of all blocks
  CHECK(moves(all[0]) == "gather 0, exchange -1");
}

TEST_CASE("policies are found where they give a plan of their own") {
  auto const all = ways("[i, j_X] [j, k] -> [i, k]", "i=4096 j=4096 k=8 X=4");
  einsum_way const* const gather = find(all, "gather 0");
  einsum_way const* const reduce = find(all, "reduce -1");
  REQUIRE(gather != nullptr);
  REQUIRE(reduce != nullptr);
  CHECK(gather->one_call());
  CHECK(gather->rule == admit::gather_left);
  CHECK(reduce->one_call());
}

TEST_CASE("idle mesh axes") {
  einsum_problem p = problem("[i, j] [j, k] -> [i, k]", "i=4096 j=4096 k=4096 X=4");
  auto const all = ways_of_einsum(p, mesh_set::of(0));
  REQUIRE(!all.empty());
  CHECK(all[0].plan.communications() == 0);
  CHECK(!all[0].idle);
  for (einsum_way const& w : all)
    for (planned_step const& s : w.plan.steps) CHECK((w.idle || s.axes.empty() || ostraka::contracts(s.kind)));
}

TEST_CASE("along idle mesh axes all do the same, and are counted") {
  einsum_problem const p = problem("[i_X, j] [j, k_X] -> [i_X, k]", "i=64 j=64 k=1024 X=4 Y=2");
  auto const all = ways_of_einsum(p, mesh_set::of(1));
  for (einsum_way const& w : all) CHECK(w.plan.elements_moved(p.sizes) == w.elements);
  einsum_way const* const right = find(all, "gather 1");
  einsum_way const* const both = find(all, "gather 0, exchange -1");
  REQUIRE(right != nullptr);
  REQUIRE(both != nullptr);
  CHECK(right->elements == 2 * 3 * 64 * 1024);
  CHECK(both->elements == 2 * (3 * 64 * 64 + 64 * 1024 * 3 / 4));
}

TEST_CASE("the planner's plan is the cheapest of all, and no two are the same") {
  for (char const* tensors :
       {"[b_X, s, d_Y] [d_X, f_Y] -> [b_X, s, f_Y]", "[i, j_X] [j_Y, k] -> [i_X, k_Y]", "[i_XY, j] [j, k] -> [i, k_X]",
        "[i, j] {U_X} [j, k_Y] -> [i_X, k_Y]", "[i_X, j_Y] [j_X, k_Y] -> [i_X, k_Y]", "[b_X, i, j_Y] [b_Y, j] -> [i]",
        "[i_X, j_Y] -> [j]", "[i, j_X] {U_Y} -> [i_Y]", "[i_X, j] [j, k_X] -> [i, k] {U_Y}",
        "[i_X, j] [j_Y, k] [k, l_X] -> [i_X, l_Y]", "[i_Z, j_X] [j_Y, k] -> [i_X, k_Z]"}) {
    INFO(std::string(tensors));
    std::string const sizes = "b=8 s=16 d=24 f=48 i=16 j=24 k=8 l=32 X=2 Y=4";  // only mesh axes that a tensor names
    einsum_problem const p = problem(tensors, sizes + (std::string_view(tensors).find('Z') < 99 ? " Z=2" : ""));
    auto const all = ways_of_einsum(p);
    REQUIRE(!all.empty());
    einsum_plan const own = plan_einsum(p);
    CHECK(same_steps(all[0].plan, own));
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].price >= all[0].price * (1 - 1e-12));
      CHECK(all[i].plan.result == p.result);
      // The last step of each tensor ends in the state in which the next one begins.
      tensor_states now(all[i].plan);
      for (planned_step const& s : all[i].plan.steps) {
        if (!ostraka::contracts(s.kind)) CHECK(now.of(s.operand) == s.from);
        now.after(s);
      }
      CHECK(now.of(all[i].plan.computes() ? the_result : all[i].plan.steps[0].operand) == p.result);
      for (std::size_t k = 0; k < i; ++k) CHECK(!same_steps(all[i].plan, all[k].plan));
      std::int64_t of_calls = 0;
      for (written_call const& c : all[i].calls) of_calls += c.plan.elements_moved(p.sizes);
      if (!all[i].one_call()) CHECK(of_calls == all[i].elements);
    }
  }
}
