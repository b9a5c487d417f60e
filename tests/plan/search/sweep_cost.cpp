// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 600

/// @file
/// No plan costs more than the best of all alternatives, found by brute force: min over all products that need no
/// communication of |A → A'| + |B → B'| + |C' → C|, each by the cheapest sequence of moves, at 1024 multiplications an
/// element, plus the work; of equal ones the least moved, then the least work. Extents are even, so that volumes are
/// those of the rules.
///
/// If moved elements have a weight (os::least_time), no plan costs more than the best by weight · volume + all work. An
/// einsum that needs no communication gets none.
///
/// As in the rules, operands are not zero-padded or masked: that moves nothing, but multiplies zeros. No plan is
/// beaten, on one, two or three mesh axes.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/search/brute_force.hpp"

using namespace ostraka::testing;
using ostraka::step;
using ostraka::planner::plan_einsum;
using ostraka::planner::plan_reshard;

namespace {

struct tally {
  std::int64_t cases = 0;
  std::int64_t beaten = 0;      // by the best alternative
  std::int64_t impossible = 0;  // cheaper than the brute force: a wrong cost or a wrong plan

  template <class Cost>
  void add(Cost const& found, Cost const& least) {
    ++cases;
    beaten += found > least ? 1 : 0;
    impossible += found < least ? 1 : 0;
  }
  [[nodiscard]] std::int64_t wrong() const { return beaten + impossible; }
};

std::vector<std::int64_t> times_devices(std::vector<std::int64_t> extent, std::vector<std::int64_t> const& mesh) {
  for (std::int64_t& n : extent)
    for (std::int64_t m : mesh) n *= m;
  return extent;
}

// Price, elements moved and multiplications of all devices together. One operand (a reduction) or two.
brute_force::cost cost_of(einsum_plan const& plan) {
  ostraka::planner::tensor_states tensors(plan);
  std::vector<spec> named(plan.operands.begin(), plan.operands.end());
  named.push_back(plan.result);
  std::vector<int> all;
  for (int l = 0; l < plan.sizes.labels; ++l) all.push_back(l);
  brute_force::cost sum{0, plan.elements_moved(plan.sizes), 0};
  for (planned_step const& s : plan.steps) {
    if (s.kind == step::contract) {
      std::vector<spec> factors{tensors.of(s.left)};
      if (s.right != ostraka::planner::no_tensor) factors.push_back(tensors.of(s.right));
      using namespace ostraka::testing;
      sum[0] += priced_work(all, splits_of(factors), worth_dividing(all, named), plan.sizes);
      sum[2] += ostraka::testing::work_of(factors, plan.sizes);
    }
    tensors.after(s);
  }
  sum[0] += default_weight * sum[1];
  return sum;
}

constexpr std::int64_t weights[] = {1, 24, 1000, 5100, 1 << 20};

void compare(einsum_labels const& names, extents const& e, std::int64_t one_in, tally& count, tally& weighed) {
  brute_force const alternatives(names, e);
  auto const& result_states = alternatives.tensors().back();
  std::int64_t combinations = 1;
  for (move_graph const& t : alternatives.tensors()) combinations *= static_cast<std::int64_t>(t.nodes().size());
  constexpr std::int64_t stride = 1000003;  // a prime: no combination twice
  for (std::int64_t n = 0; n < combinations / one_in; ++n) {
    std::int64_t rest = one_in == 1 ? n : n * stride % combinations;
    std::vector<std::size_t> which;
    einsum_problem problem;
    for (move_graph const& t : alternatives.tensors()) {
      auto const states = static_cast<std::int64_t>(t.nodes().size());
      which.push_back(static_cast<std::size_t>(rest % states));
      rest /= states;
      if (which.size() < alternatives.tensors().size()) problem.operands.push_back(t.nodes()[which.back()]);
    }
    problem.result = result_states.nodes()[which.back()];
    problem.sizes = e;
    einsum_plan const plan = plan_einsum(problem);
    brute_force::cost const found = cost_of(plan);
    std::int64_t const wrong = count.wrong();
    count.add(found, alternatives.least(which));
    if (wrong < count.wrong() && wrong < 3)
      MESSAGE("plan costs ", found[0], " and moves ", found[1], ": ", text_of(plan, names.names),
              "\n  alternative: ", alternatives.way(which));
    problem.rule = ostraka::planner::admit::no_communication;
    if (found[1] > 0 && plan_einsum(problem).feasible)
      CHECK_MESSAGE(false, "there is a plan that moves nothing: ", text_of(plan, names.names));
    problem.rule = ostraka::planner::admit::any;
    if (n % 3 != 0) continue;
    std::int64_t const weight = weights[static_cast<std::size_t>(n / 3) % std::size(weights)];
    problem.element_weight = static_cast<double>(weight);
    einsum_plan const timed = plan_einsum(problem);
    std::int64_t const price = weight * timed.elements_moved(e) + cost_of(timed)[2];
    std::int64_t const least_price = alternatives.least_price(which, weight);
    weighed.add(price, least_price);
    if (price != least_price && weighed.wrong() <= 3)
      MESSAGE("at ", weight, " multiplications an element, the plan costs ", price, ", not ", least_price, ": ",
              text_of(timed, names.names));
  }
}

struct comparison {
  char const* einsum;
  std::vector<std::vector<std::int64_t>> meshes;
  std::vector<std::vector<std::int64_t>> extents;  // multiplied by the number of devices
  std::int64_t one_in;
};

void report(std::string const& what, std::size_t mesh_axes, tally const& count) {
  MESSAGE(what, ": ", count.cases, " cases on ", mesh_axes, " mesh axes; beaten: ", count.beaten);
  CHECK(count.beaten == 0);
  CHECK(count.impossible == 0);
}

std::int64_t run(std::vector<comparison> const& comparisons) {
  std::int64_t cases = 0;
  for (comparison const& c : comparisons) {
    tally count;
    tally weighed;
    einsum_labels const names(c.einsum);
    for (auto const& mesh : c.meshes)
      for (auto const& extent : c.extents)
        compare(names, make_extents(names.count(), times_devices(extent, mesh), mesh), c.one_in, count, weighed);
    report(names.text, c.meshes[0].size(), count);
    report(names.text + ", moves against work", c.meshes[0].size(), weighed);
    cases += count.cases;
  }
  return cases;
}

std::vector<std::vector<std::int64_t>> const shapes = {{1, 1, 1, 1}, {4, 1, 1, 1}, {1, 4, 1, 1}, {1, 1, 4, 1},
                                                       {1, 1, 1, 4}, {1, 5, 7, 3}, {9, 2, 1, 4}};

}  // namespace

TEST_CASE("no plan on one mesh axis costs more than the best alternative") {
  std::vector<comparison> all;
  for (char const* einsum :
       {"ij,jk->ik", "bij,bjk->bik", "j,j->", "i,k->ik", "bj,bj->b", "ij->i", "ij->", "ij->ji", "ij,k->ik"})
    all.push_back({einsum, {{1}, {2}, {3}, {4}, {8}}, shapes, 1});
  CHECK(run(all) == 13125);
}

TEST_CASE("no plan on two mesh axes costs more than the best alternative") {
  CHECK(run({{"ij,jk->ik", {{2, 2}, {2, 3}, {4, 2}}, {{1, 1, 1}, {4, 1, 1}, {1, 5, 7}}, 1},
             {"j,j->", {{2, 2}, {3, 2}}, shapes, 1},
             {"i,k->ik", {{2, 2}, {3, 2}}, {{1, 1}, {1, 6}}, 1},
             {"bj,bj->b", {{2, 2}, {3, 2}}, {{1, 1}, {1, 6}, {6, 1}}, 1},
             {"ij->i", {{2, 2}, {3, 2}}, shapes, 1},
             {"ij->ji", {{2, 2}, {3, 2}}, shapes, 1},
             {"bij,bjk->bik", {{2, 2}, {2, 3}}, {{1, 1, 1, 1}, {3, 1, 5, 2}}, 3}}) == 121052);
}

TEST_CASE("no plan on three mesh axes costs more than the best alternative") {
  CHECK(run({{"ij,jk->ik", {{2, 2, 2}, {2, 3, 2}}, {{1, 1, 1}, {1, 5, 7}}, 401},
             {"ij->i", {{2, 2, 2}, {2, 3, 2}}, {{1, 1}, {1, 6}}, 3},
             {"ij->ji", {{2, 2, 2}, {2, 3, 2}}, {{1, 1}, {1, 6}}, 3}}) == 23708);
}

TEST_CASE("no reshard moves more than the best sequence of moves") {
  std::int64_t cases = 0;
  for (auto const& mesh : std::vector<std::vector<std::int64_t>>{{2}, {3}, {2, 2}, {3, 2}, {2, 2, 2}, {2, 3, 2}})
    for (auto const& dims : {labels{0}, labels{0, 1}, labels{0, 1, 2}}) {
      if (mesh.size() == 3 && dims.size() == 3) continue;
      extents const e = make_extents(3, times_devices({1, 2, 3}, mesh), mesh);
      move_graph const moves(dims, e, true, true);
      tally count;
      for (std::size_t a = 0; a < moves.nodes().size(); ++a)
        for (std::size_t b = 0; b < moves.nodes().size(); ++b) {
          spec const& to = moves.nodes()[b];
          std::int64_t moved = 0;
          for (planned_step const& s : plan_reshard(moves.nodes()[a], to, e))
            moved += ostraka::planner::elements_moved(s, e);
          std::int64_t const wrong = count.wrong();
          count.add(moved, moves.volume(a, b));
          if (wrong < count.wrong() && wrong < 3)
            MESSAGE("reshard moves ", moved, ", not ", moves.volume(a, b), "  ", text_of(e, "ijk"),
                    moves.way(a, b, "ijk"));
          if (moved == moves.volume(a, b))
            CHECK(ostraka::planner::reshard_volume(moves.nodes()[a], to, e) == static_cast<double>(moved));
        }
      report("reshard of rank " + std::to_string(dims.size()), mesh.size(), count);
      cases += count.cases;
    }
  CHECK(cases == 22332);
}

TEST_CASE("the moves of the rules are those of the blocks") {
  extents const e = make_extents(2, {24, 48}, {2, 3, 4});
  simulated_mesh const mesh(e);
  std::int64_t const whole = 24 * 48;
  spec rows_xy;  // [i_XY, j]
  rows_xy.push_back(0);
  rows_xy.over[0].push_back(0);
  rows_xy.over[0].push_back(1);
  rows_xy.push_back(1);
  spec rows_x = rows_xy;
  rows_x.over[0].erase(1);
  spec both = rows_x;
  both.over[1].push_back(1);
  spec columns_xy = rows_xy;
  std::swap(columns_xy.over[0], columns_xy.over[1]);
  // All devices together: gather (n−1)/n of what they hold after it, all-to-all (n−1)/n² of |T|, for n = 3 and for both
  // axes n = 6.
  CHECK(move_graph::volume_of_move(mesh, rows_xy, rows_x) == 24 * (whole / 2) * 2 / 3);
  CHECK(move_graph::volume_of_move(mesh, rows_xy, both) == 24 * (whole / 2) * 2 / 9);
  CHECK(move_graph::volume_of_move(mesh, rows_xy, columns_xy) == 24 * whole * 5 / 36);
  CHECK(move_graph::volume_of_move(mesh, rows_x, rows_xy) == 0);
}

TEST_CASE("textbook cells cost what the textbooks say") {
  // Batch b, i left, j contracted, k right, one mesh axis of n devices; volumes over all devices, |T| elements each
  // tensor has.
  struct cell {
    char const* einsum;
    char const* a;  // how the operand or result is divided: a label, R or P
    char const* b;
    char const* c;
    std::vector<std::int64_t> extent;
    step kind;  // of the only communication, contract for none
    std::int64_t (*volume)(std::int64_t n, std::int64_t a, std::int64_t b, std::int64_t c);
  };
  auto const nothing = [](std::int64_t, std::int64_t, std::int64_t, std::int64_t) -> std::int64_t { return 0; };
  auto const whole_a = [](std::int64_t n, std::int64_t a, std::int64_t, std::int64_t) -> std::int64_t {
    return (n - 1) * a;
  };
  auto const whole_b = [](std::int64_t n, std::int64_t, std::int64_t b, std::int64_t) -> std::int64_t {
    return (n - 1) * b;
  };
  auto const whole_c = [](std::int64_t n, std::int64_t, std::int64_t, std::int64_t c) -> std::int64_t {
    return (n - 1) * c;
  };
  auto const twice_c = [](std::int64_t n, std::int64_t, std::int64_t, std::int64_t c) -> std::int64_t {
    return 2 * (n - 1) * c;
  };
  auto const part_a = [](std::int64_t n, std::int64_t a, std::int64_t, std::int64_t) -> std::int64_t {
    return (n - 1) * a / n;
  };
  auto const part_b = [](std::int64_t n, std::int64_t, std::int64_t b, std::int64_t) -> std::int64_t {
    return (n - 1) * b / n;
  };
  std::vector<cell> const cells = {
      {"ij,jk->ik", "i", "R", "i", {1, 1, 1}, step::contract, nothing},
      {"ij,jk->ik", "R", "k", "k", {1, 1, 1}, step::contract, nothing},
      {"ij,jk->ik", "j", "j", "P", {1, 1, 1}, step::contract, nothing},
      {"ij,jk->ik", "j", "R", "P", {1, 1, 1}, step::contract, nothing},
      {"ij,jk->ik", "P", "R", "P", {1, 1, 1}, step::contract, nothing},
      {"ij,jk->ik", "j", "R", "R", {9, 1, 9}, step::all_gather, whole_a},
      {"ij,jk->ik", "j", "R", "R", {1, 99, 1}, step::all_reduce, twice_c},
      {"ij,jk->ik", "R", "j", "R", {9, 1, 9}, step::all_gather, whole_b},
      {"ij,jk->ik", "R", "j", "R", {1, 99, 1}, step::all_reduce, twice_c},
      {"ij,jk->ik", "j", "j", "R", {1, 99, 1}, step::all_reduce, twice_c},
      {"ij,jk->ik", "j", "j", "i", {1, 99, 1}, step::reduce_scatter, whole_c},
      {"ij,jk->ik", "j", "j", "k", {1, 99, 1}, step::reduce_scatter, whole_c},
      {"ij,jk->ik", "i", "k", "i", {99, 1, 1}, step::all_gather, whole_b},
      {"ij,jk->ik", "i", "k", "k", {1, 1, 99}, step::all_gather, whole_a},
      {"ij,jk->ik", "i", "j", "i", {99, 1, 1}, step::all_gather, whole_b},
      {"ij,jk->ik", "j", "k", "k", {1, 1, 99}, step::all_gather, whole_a},
      {"ij,jk->ik", "i", "j", "P", {1, 9, 9}, step::all_to_all, part_a},
      {"ij,jk->ik", "P", "j", "P", {1, 9, 9}, step::reduce_scatter, whole_a},
      {"ij,jk->ik", "j", "P", "P", {9, 9, 1}, step::reduce_scatter, whole_b},
      {"bij,bjk->bik", "b", "b", "b", {1, 1, 1, 1}, step::contract, nothing},
      {"bij,bjk->bik", "b", "j", "b", {1, 1, 1, 1}, step::all_to_all, part_b},
      {"bij,bjk->bik", "b", "k", "b", {1, 1, 1, 1}, step::all_to_all, part_b},
      {"bij,bjk->bik", "i", "b", "b", {1, 1, 1, 1}, step::all_to_all, part_a},
      {"bij,bjk->bik", "j", "b", "b", {1, 1, 1, 1}, step::all_to_all, part_a},
      {"bij,bjk->bik", "P", "b", "b", {1, 1, 1, 1}, step::reduce_scatter, whole_a},
      {"bij,bjk->bik", "b", "P", "b", {1, 1, 1, 1}, step::reduce_scatter, whole_b},
  };
  for (cell const& c : cells)
    for (std::int64_t n : {2, 3, 4, 8}) {
      einsum_labels const names(c.einsum);
      extents const e = make_extents(names.count(), times_devices(c.extent, {n}), {n});
      auto const divided = [&](labels const& dims, std::string const& state) {
        spec s;
        for (int l : dims) {
          s.push_back(l);
          if (state[0] == names.names[static_cast<std::size_t>(l)]) s.over[s.rank - 1].push_back(0);
        }
        if (state == "P") s.partial.insert(0);
        return s;
      };
      einsum_problem problem;
      problem.operands.push_back(divided(names.operands[0], c.a));
      problem.operands.push_back(divided(names.operands[1], c.b));
      problem.result = divided(names.result, c.c);
      problem.sizes = e;
      einsum_plan const plan = plan_einsum(problem);
      std::string const text = text_of(plan, names.names);
      CAPTURE(text);
      CHECK(plan.communications() == (c.kind == step::contract ? 0 : 1));
      CHECK(plan.count(c.kind) == 1);
      CHECK(plan.elements_moved(e) ==
            c.volume(n, e.whole(problem.operands[0]), e.whole(problem.operands[1]), e.whole(problem.result)));
    }
}

// [i, j_X, k] -> [i, j_YX]: k is summed on j_XY, whose blocks then change places. Sizes that do not divide extents give
// volumes that are rounded; rounding must not make a dearer plan look as cheap.
TEST_CASE("a plan for extents that the mesh does not divide moves no more than blocks that change places") {
  for (std::int64_t const n : {2, 3, 4, 5, 6, 7, 9, 10, 11}) {
    constexpr std::int64_t extent = 4096;
    einsum_problem problem;
    problem.sizes = make_extents(3, {extent, extent, extent}, {n, n});
    spec a;
    a.push_back(0);
    a.push_back(1, {0x1});
    a.push_back(2);
    problem.operands.push_back(a);
    problem.result.push_back(0);
    problem.result.push_back(1, {0x12});
    std::int64_t moved = 0;
    for (std::int64_t x = 0; x < n; ++x)
      for (std::int64_t y = 0; y < n; ++y)
        if (x != y) {
          std::int64_t const block = y * n + x;
          moved += extent * ((block + 1) * extent / (n * n) - block * extent / (n * n));
        }
    CAPTURE(n);
    CHECK(plan_einsum(problem).elements_moved(problem.sizes) <= moved);
  }
}
