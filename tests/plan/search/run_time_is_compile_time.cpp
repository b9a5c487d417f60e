// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A plan made by the compiler is the plan made at run time, step by step, so that sweeps at run time hold for the
/// plans that programs compile. The compiler also decides the well-known cases: the four matrix products, the
/// feed-forward layer h[B_X, S, D_Y] · W_in[D_X, F_Y] · W_out[F_Y, D_X] → [B_X, S, D_Y].

#include <doctest/doctest.h>

#include <ostraka/plan/search/plan_einsum.hpp>

#include "plan/every_spec.hpp"
#include "plan/problem_text.hpp"

using namespace ostraka::testing;
using ostraka::step;
using ostraka::planner::admit;
using ostraka::planner::plan_einsum;

namespace {

constexpr char const* square = "i=64 j=64 k=64 X=4";

// Four matrix products: nothing contracted is divided; one side's; both sides' over the same mesh axis; both outer axes
// over the same.
constexpr einsum_plan free_product = plan_einsum(problem("[i_X, j] [j, k_Y] -> [i_X, k_Y]", "i=64 j=64 k=64 X=4 Y=2"));
static_assert(free_product.feasible && free_product.communications() == 0 && free_product.steps.size() == 1);

constexpr einsum_plan one_side_small = plan_einsum(problem("[i, j_X] [j, k] -> [i, k]", "i=64 j=8 k=64 X=4"));
static_assert(one_side_small.communications() == 1 && one_side_small.count(step::all_gather) == 1);
static_assert(one_side_small.elements_moved(one_side_small.sizes) == 3 * 64 * 8);

constexpr einsum_plan one_side_long = plan_einsum(problem("[i, j_X] [j, k] -> [i, k]", "i=8 j=1024 k=8 X=4"));
static_assert(one_side_long.communications() == 1 && one_side_long.count(step::all_reduce) == 1 &&
              one_side_long.count(step::slice) == 1);
static_assert(one_side_long.elements_moved(one_side_long.sizes) == 2 * 3 * 8 * 8);

constexpr einsum_plan both_sides = plan_einsum(problem("[i, j_X] [j_X, k] -> [i, k]", "i=8 j=1024 k=8 X=4"));
static_assert(both_sides.steps.size() == 2 && both_sides.steps[0].kind == step::contract &&
              both_sides.steps[1].kind == step::all_reduce);

constexpr einsum_plan both_sides_scattered =
    plan_einsum(problem("[i, j_X] [j_X, k] -> [i_X, k]", "i=8 j=1024 k=8 X=4"));
static_assert(both_sides_scattered.steps.size() == 2 && both_sides_scattered.steps[1].kind == step::reduce_scatter);
static_assert(both_sides_scattered.elements_moved(both_sides_scattered.sizes) == 3 * 8 * 8);

constexpr einsum_plan both_outer = plan_einsum(problem("[i_X, j] [j, k_X] -> [i_X, k]", square));
static_assert(both_outer.steps.size() == 2 && both_outer.steps[0].kind == step::all_gather &&
              both_outer.steps[0].operand == 1);
static_assert(both_outer.elements_moved(both_outer.sizes) == 3 * 64 * 64);

// The feed-forward layer.
constexpr char const* layer_sizes = "b=32 s=512 d=1024 f=4096 X=4 Y=2";
constexpr einsum_plan layer_in = plan_einsum(problem("[b_X, s, d_Y] [d_X, f_Y] -> [b_X, s, f_Y]", layer_sizes));
static_assert(layer_in.steps.size() == 3 && layer_in.communications() == 2 && layer_in.count(step::all_gather) == 2);
static_assert(layer_in.steps[0].operand == 0 && layer_in.steps[0].axes == mesh_set::of(1));
static_assert(layer_in.steps[1].operand == 1 && layer_in.steps[1].axes == mesh_set::of(0));
static_assert(layer_in.elements_moved(layer_in.sizes) == (2 - 1) * (32 * 512 * 1024) + (4 - 1) * (1024 * 4096));

constexpr einsum_plan layer_out = plan_einsum(problem("[b_X, s, f_Y] [f_Y, d_X] -> [b_X, s, d_Y]", layer_sizes));
static_assert(layer_out.steps.size() == 3 && layer_out.communications() == 2);
static_assert(layer_out.steps[0].kind == step::all_gather && layer_out.steps[0].operand == 1 &&
              layer_out.steps[0].axes == mesh_set::of(0));
static_assert(layer_out.steps[1].kind == step::contract);
static_assert(layer_out.steps[2].kind == step::reduce_scatter && layer_out.steps[2].axes == mesh_set::of(1));
static_assert(layer_out.elements_moved(layer_out.sizes) == (4 - 1) * (4096 * 1024) + (2 - 1) * (32 * 512 * 1024));

constexpr bool multiplies_first(einsum_plan const& plan, int left, int right) {
  for (planned_step const& s : plan.steps)
    if (s.kind == step::contract) return s.left == left && s.right == right;
  return false;
}

// Matrix chains: a vector is multiplied first, from the right or from the left; a bottleneck is where the chain is cut.
constexpr einsum_plan towards_vector = plan_einsum(problem("[i_X, j] [j, k] [k] -> [i_X]", "i=512 j=512 k=512 X=4"));
static_assert(towards_vector.communications() == 0 && multiplies_first(towards_vector, 1, 2));
constexpr einsum_plan from_vector =
    plan_einsum(problem("[i] [i, j] [j, k] [k, l_X] -> [l_X]", "i=512 j=512 k=512 l=512 X=4"));
static_assert(from_vector.communications() == 0 && multiplies_first(from_vector, 0, 1));
constexpr einsum_plan bottleneck =
    plan_einsum(problem("[i_X, j] [j, k] [k, l] [l, m] -> [i_X, m]", "i=512 j=512 k=8 l=512 m=512 X=4"));
static_assert(bottleneck.steps[bottleneck.steps.size() - 1].left >= 4 &&
              bottleneck.steps[bottleneck.steps.size() - 1].right >= 4);  // (A · B) · (C · D)

// The feed-forward layer in and out as one einsum. Divided by columns, then rows: nothing moves before the sum.
constexpr einsum_plan layer =
    plan_einsum(problem("[b, s, d] [d, f_X] [f_X, e] -> [b, s, e]", "b=8 s=64 d=1024 f=4096 e=1024 X=4"));
static_assert(layer.communications() == 1 && layer.count(step::all_reduce) == 1 && multiplies_first(layer, 0, 1));
// With more tokens than the layer is wide (and no nonlinearity between) the weights are multiplied first.
constexpr einsum_plan folded =
    plan_einsum(problem("[b_X, s, d] [d, f_Y] [f_Y, e] -> [b_X, s, e]", "b=512 s=512 d=1024 f=4096 e=1024 X=4 Y=2"));
static_assert(multiplies_first(folded, 1, 2));

// Attention over batch and heads: nothing moves, queries meet keys before values do.
constexpr einsum_plan attention =
    plan_einsum(problem("[b_X, h_Y, q, d] [b_X, h_Y, k, d] [b_X, h_Y, k, e] -> [b_X, h_Y, q, e]",
                        "b=8 h=16 q=64 d=128 k=64 e=128 X=4 Y=2"));
static_assert(attention.communications() == 0 && attention.steps.size() == 2 && multiplies_first(attention, 0, 1));
// Long sequences: keys meet values first, and the d × e products are summed over the divided keys.
constexpr einsum_plan linear_attention =
    plan_einsum(problem("[q_X, d] [k_X, d] [k_X, e] -> [q_X, e]", "q=65536 d=64 k=65536 e=64 X=4"));
static_assert(linear_attention.communications() == 1 && linear_attention.count(step::all_reduce) == 1);
static_assert(multiplies_first(linear_attention, 1, 2));

// Policies admit what they say.
constexpr auto ruled(admit rule) { return plan_einsum(problem("[i, j_X] [j, k] -> [i, k]", square, rule)); }
static_assert(ruled(admit::gather_left).count(step::all_gather) == 1 &&
              ruled(admit::gather_left).communications() == 1);
static_assert(ruled(admit::reduce_result).count(step::all_reduce) == 1 &&
              ruled(admit::reduce_result).communications() == 1);
static_assert(!ruled(admit::gather_right).feasible && !ruled(admit::no_communication).feasible);
static_assert(plan_einsum(problem("[i, j_X] [j, k] -> [i, k] {U_X}", square, admit::no_communication)).feasible);
constexpr auto ruled_chain(std::string_view tensors, admit rule) {
  return plan_einsum(problem(tensors, "i=64 j=64 k=64 l=64 X=4", rule));
}
static_assert(ruled_chain("[i_X, j] [j, k] [k, l] -> [i_X, l]", admit::no_communication).feasible);
static_assert(!ruled_chain("[i_X, j] [j, k_X] [k, l] -> [i_X, l]", admit::no_communication).feasible);
static_assert(!ruled_chain("[i_X, j] [j, k] [k, l] -> [i, l]", admit::gather_left).feasible);  // for two operands

constexpr char const* uneven = "b=3 i=7 j=5 k=9 X=2 Y=3";

struct planned {
  std::string_view tensors;
  std::string_view sizes;
  einsum_plan plan;
};

constexpr planned by_compiler(std::string_view tensors, std::string_view sizes) {
  return {tensors, sizes, plan_einsum(problem(tensors, sizes))};
}

// Uneven, partial, batched, reductions, transposes, resharding, permuted mesh axes, three mesh axes, three operands.
constexpr planned compiled[] = {
    by_compiler("[i_X, j] [j, k_Y] -> [i_X, k_Y]", uneven),
    by_compiler("[i, j_X] [j_X, k] -> [i, k]", uneven),
    by_compiler("[i_X, j_Y] [j_X, k_Y] -> [i_X, k_Y]", uneven),
    by_compiler("[i_X, j] [j, k_X] -> [k, i_Y]", uneven),
    by_compiler("[b_X, i, j_Y] [b_Y, j, k_X] -> [b_X, i, k]", uneven),
    by_compiler("[i, j] {U_XY} [j_X, k] -> [i, k]", uneven),
    by_compiler("[i, j_XY] [j, k] {U_X} -> [i, k_YX]", uneven),
    by_compiler("[i_X, j_Y] -> [j]", uneven),
    by_compiler("[i_XY, j] -> [i]", uneven),
    by_compiler("[i_XY, j] -> [i, j_YX]", uneven),
    by_compiler("[i, j] {U_Y} -> [j_X, i] {U_Y}", uneven),
    by_compiler("[i] [k_X] -> [i, k] {U_X}", uneven),
    by_compiler("[i_Z, j_X] [j_Y, k] -> [i_X, k_Z]", "i=8 j=12 k=16 X=2 Y=2 Z=3"),
    by_compiler("[i, j_X] [j, k_Y] [k, l] -> [i_Y, l]", "i=8 j=12 k=16 l=4 X=2 Y=2"),
    by_compiler("[i, j_X] {U_Y} [j, k_YX] [k_X, l] -> [i_Y, l] {U_X}", "i=8 j=12 k=16 l=4 X=2 Y=2"),
    by_compiler("[a_X, b, c_Y] [a, i_X] [b_X, j_Y] [c, k] -> [i_X, j, k_Y]", "a=8 b=12 c=16 i=24 j=18 k=6 X=2 Y=3"),
    by_compiler("[i_Y, j_X] [j, k] [k, l_X] [l, m_Y] -> [i_X, m]", "i=8 j=12 k=16 l=4 m=32 X=2 Y=2"),
    by_compiler("[i_Y, j_XZ] [j, k] [k_Z, l_X] -> [i_X, l]", "i=8 j=12 k=16 l=4 X=2 Y=2 Z=2"),
    by_compiler("[a_X] [a, b] [b_Y, c] [c, d] [d_X, e] [e, f_Y] [f] [a, f] -> [a_X]",
                "a=8 b=12 c=4 d=8 e=12 f=4 X=2 Y=2"),
};

}  // namespace

TEST_CASE("the plan of the compiler is the plan at run time") {
  for (planned const& p : compiled) {
    CAPTURE(p.tensors);
    std::string const tensors(p.tensors);  // not known to the compiler here
    einsum_plan const plan = plan_einsum(problem(tensors, p.sizes));
    CHECK(plan.feasible);
    CHECK(p.plan.feasible);
    CHECK(plan.result == p.plan.result);
    REQUIRE(plan.steps.size() == p.plan.steps.size());
    for (int i = 0; i < plan.steps.size(); ++i) {
      CHECK(plan.steps[i].kind == p.plan.steps[i].kind);
      CHECK(plan.steps[i].operand == p.plan.steps[i].operand);
      CHECK(plan.steps[i].left == p.plan.steps[i].left);
      CHECK(plan.steps[i].right == p.plan.steps[i].right);
      CHECK(plan.steps[i].axes == p.plan.steps[i].axes);
      CHECK(plan.steps[i].from == p.plan.steps[i].from);
      CHECK(plan.steps[i].to == p.plan.steps[i].to);
    }
    CHECK(plan.elements_moved(plan.sizes) == p.plan.elements_moved(p.plan.sizes));
  }
}

TEST_CASE("problems are read as they are printed") {
  auto const p = problem("[b_XY, i] [b, k_Y] {U_X} -> [i, k] {U_XY}", uneven);
  CHECK(text_of(p.operands[0], "bik") == "[b_XY, i]");
  CHECK(text_of(p.operands[1], "bik") == "[b, k_Y] {U_X}");
  CHECK(text_of(p.result, "bik") == "[i, k] {U_XY}");
  CHECK(p.sizes.mesh[1] == 3);
  CHECK(p.sizes.label[2] == 9);
}
