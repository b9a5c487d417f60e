// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// labels: slow ci
// timeout: 600

/// @file
/// Three and four operands: no plan costs more than the best of all orders of products and all shardings of operands
/// and intermediates, found by brute force. And beyond the exact range: how much more the heuristic's plans cost,
/// measured where the optimum is known.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/search/brute_force_orders.hpp"

using namespace ostraka::testing;
using ostraka::step;
using ostraka::planner::admit;
using ostraka::planner::plan_einsum;
using ostraka::planner::search_effort;

namespace {

constexpr std::int64_t weights[] = {1, 24, 1000, 5100, 1 << 14};

struct tally {
  std::int64_t cases = 0;
  std::int64_t beaten = 0;      // by the best alternative
  std::int64_t impossible = 0;  // cheaper than the brute force: a wrong cost or a wrong plan
  std::int64_t moving = 0;
  std::int64_t still = 0;      // cases that have a plan which moves nothing
  double worst = 1;            // price over the least price
  std::int64_t mispriced = 0;  // where moved elements have a weight (os::least_time)
  std::int64_t not_still = 0;  // of which another, or none, was found under that policy
};

// The cost of a plan, from its steps.
struct plan_cost {
  price_and_volume least{};  // by default
  std::int64_t work = 0;
};

plan_cost cost_of(einsum_plan const& plan) {
  plan_cost sum{{0, plan.elements_moved(plan.sizes)}, 0};
  std::vector<spec> named(plan.operands.begin(), plan.operands.end());
  named.push_back(plan.result);
  ostraka::planner::tensor_states tensors(plan);
  for (planned_step const& s : plan.steps) {
    if (s.kind == step::contract) {
      std::vector<spec> const factors = {tensors.of(s.left), tensors.of(s.right)};
      std::vector<int> inside;
      for (int l = 0; l < plan.sizes.labels; ++l)
        if (factors[0].find(l) >= 0 || factors[1].find(l) >= 0) inside.push_back(l);
      sum.least.price += priced_work(inside, splits_of(factors), worth_dividing(inside, named), plan.sizes);
      sum.work += ostraka::testing::work_of(factors, plan.sizes);
    }
    tensors.after(s);
  }
  sum.least.price += default_weight * sum.least.volume;
  return sum;
}

std::vector<std::int64_t> times_devices(std::vector<std::int64_t> extent, std::vector<std::int64_t> const& mesh) {
  for (std::int64_t& n : extent)
    for (std::int64_t m : mesh) n *= m;
  return extent;
}

// Calls f(problem, which) for one case in `one_in` of all combinations of shardings, spread over them.
template <class F>
void for_each_problem(std::vector<std::vector<spec>> const& states, extents const& e, std::int64_t one_in, F const& f) {
  std::int64_t combinations = 1;
  for (auto const& s : states) combinations *= static_cast<std::int64_t>(s.size());
  constexpr std::int64_t stride = 1000003;  // a prime: no combination twice
  for (std::int64_t n = 0; n < combinations / one_in; ++n) {
    std::int64_t rest = one_in == 1 ? n : n * stride % combinations;
    std::vector<std::size_t> which;
    einsum_problem problem;
    for (auto const& s : states) {
      which.push_back(static_cast<std::size_t>(rest) % s.size());
      rest /= static_cast<std::int64_t>(s.size());
      if (which.size() < states.size()) problem.operands.push_back(s[which.back()]);
    }
    problem.result = states.back()[which.back()];
    problem.sizes = e;
    f(problem, which);
  }
}

std::vector<std::vector<spec>> states_of(einsum_labels const& names, int mesh_axes) {
  std::vector<std::vector<spec>> states;
  for (auto const& dims : names.operands) states.push_back(every_spec(dims, mesh_axes));
  states.push_back(every_spec(names.result, mesh_axes));
  return states;
}

struct comparison {
  char const* einsum;
  std::vector<std::vector<std::int64_t>> meshes;
  std::vector<std::vector<std::int64_t>> extents;  // multiplied by the number of devices
  std::int64_t one_in;
};

std::int64_t run(std::vector<comparison> const& comparisons) {
  std::int64_t cases = 0;
  for (comparison const& c : comparisons) {
    tally count;
    einsum_labels const names(c.einsum);
    for (auto const& mesh : c.meshes)
      for (auto const& extent : c.extents) {
        extents const e = make_extents(names.count(), times_devices(extent, mesh), mesh);
        brute_force_orders alternatives(names, e);
        for_each_problem(
            states_of(names, e.mesh_axes), e, c.one_in,
            [&](einsum_problem& problem, std::vector<std::size_t> const& which) {
              einsum_plan const plan = plan_einsum(problem);
              price_and_volume const least = alternatives.least(which);
              std::int64_t const still = alternatives.least_work_of_still(which);
              plan_cost const found = cost_of(plan);
              ++count.cases;
              count.moving += found.least.volume > 0 ? 1 : 0;
              problem.rule = admit::no_communication;
              einsum_plan const unmoved = plan_einsum(problem);
              bool const as_still = unmoved.feasible ? unmoved.communications() == 0 && cost_of(unmoved).work == still
                                                     : still == unreachable;
              if (!as_still && ++count.not_still <= 3)
                MESSAGE("without communication, multiplies ", cost_of(unmoved).work, " not ", still, ": ",
                        text_of(unmoved, names.names));
              count.still += unmoved.feasible ? 1 : 0;
              bool const wrong = !plan.feasible || found.least != least;
              count.beaten += !plan.feasible || found.least > least ? 1 : 0;
              count.worst =
                  std::max(count.worst, static_cast<double>(found.least.price) / static_cast<double>(least.price));
              count.impossible += found.least < least ? 1 : 0;
              if (wrong && count.beaten + count.impossible <= 3)
                MESSAGE("plan costs ", found.least.price, " and moves ", found.least.volume, ": ",
                        text_of(plan, names.names), "\n  alternative: costs ", least.price, " and moves ",
                        least.volume);
              problem.rule = admit::any;
              if (count.cases % 3 != 0) return;
              std::int64_t const weight = weights[count.cases / 3 % static_cast<std::int64_t>(std::size(weights))];
              problem.element_weight = static_cast<double>(weight);
              einsum_plan const timed = plan_einsum(problem);
              plan_cost const spent = cost_of(timed);
              std::int64_t const price = weight * spent.least.volume + spent.work;
              std::int64_t const least_price = alternatives.least_price(which, weight);
              if (price != least_price && ++count.mispriced <= 3)
                MESSAGE("at ", weight, " multiplications an element, the plan costs ", price, ", not ", least_price,
                        ": ", text_of(timed, names.names));
            });
        CHECK(alternatives.trees() == (names.operands.size() == 3 ? 3 : 15));
      }
    MESSAGE(names.text, ": ", count.cases, " cases on ", c.meshes[0].size(), " mesh axes, ", count.moving, " move, ",
            count.still, " need not; beaten: ", count.beaten, ", by a factor of ", count.worst);
    CHECK(count.not_still == 0);
    CHECK(count.beaten == 0);
    CHECK(count.impossible == 0);
    CHECK(count.mispriced == 0);
    cases += count.cases;
  }
  return cases;
}

}  // namespace

TEST_CASE("no plan of three operands on one mesh axis costs more than the best alternative") {
  CHECK(run({{"ij,jk,kl->il",
              {{2}, {3}, {4}},
              {{1, 1, 1, 1}, {8, 1, 4, 1}, {1, 6, 1, 6}, {1, 5, 7, 3}, {900, 2000, 1, 400}, {700, 700, 700, 700}},
              1},
             {"ij,jk,k->i", {{2}, {4}}, {{1, 1, 1}, {4, 1, 4}, {1, 5, 7}, {500, 300, 900}}, 1},
             {"bqd,bkd,bke->bqe", {{2}, {4}}, {{1, 1, 1, 1, 1}, {2, 1, 8, 3, 1}, {9, 500, 64, 500, 64}}, 1},
             {"ia,ib,ic->abc", {{2}}, {{1, 1, 1, 1}, {3, 1, 2, 1}, {200, 30, 20, 10}}, 1},
             {"ij,jk,ki->", {{2}, {3}}, {{1, 1, 1}, {4, 1, 2}, {400, 100, 200}}, 1},
             {"i,j,k->ijk", {{3}}, {{1, 1, 1}, {4, 1, 2}, {40, 10, 90}}, 1},
             {"ij,ij,ij->ij", {{2}}, {{1, 1}, {1, 4}, {100, 300}}, 1},
             {"il,ij,jk->k", {{2}}, {{1, 1, 1, 1}, {3, 1, 2, 1}, {300, 100, 200, 100}}, 1}}) == 12987);
}

TEST_CASE("no plan of four operands on one mesh axis costs more than the best alternative") {
  CHECK(run({{"ij,jk,kl,lm->im",
              {{2}, {3}},
              {{1, 1, 1, 1, 1}, {8, 1, 4, 1, 2}, {1, 6, 1, 6, 1}, {1, 5, 7, 3, 2}, {900, 100, 700, 90, 600}},
              1},
             {"ij,jk,kl,l->i", {{4}}, {{1, 1, 1, 1}, {4, 1, 6, 2}, {100, 300, 200, 400}}, 1},
             {"abc,ai,bj,ck->ijk", {{2}}, {{1, 1, 1, 1, 1, 1}, {2, 3, 1, 1, 4, 2}, {20, 30, 10, 50, 40, 20}}, 3},
             {"bqd,bkd,bke,ef->bqf", {{3}}, {{1, 1, 1, 1, 1, 1}, {9, 500, 64, 500, 64, 300}}, 3},
             {"ij,jk,kl,li->", {{2}}, {{1, 1, 1, 1}, {4, 1, 2, 1}, {70, 90, 30, 20}}, 1}}) == 16769);
}

TEST_CASE("no plan of three operands on two mesh axes costs more than the best alternative") {
  CHECK(run({{"ij,jk,kl->il",
              {{2, 2}, {2, 3}},
              {{1, 1, 1, 1}, {1, 5, 7, 3}, {900, 2000, 1, 400}, {700, 700, 700, 700}},
              31},
             {"ij,jk,k->i", {{2, 3}}, {{1, 1, 1}, {1, 5, 7}, {500, 300, 900}}, 7},
             {"bqd,bkd,bke->bqe", {{2, 2}, {3, 2}}, {{1, 1, 1, 1, 1}, {2, 1, 8, 3, 1}, {9, 500, 64, 500, 64}}, 307},
             {"ia,ib,ic->abc", {{2, 2}}, {{1, 1, 1, 1}, {200, 30, 20, 10}}, 101},
             {"ij,jk,ki->", {{2, 2}, {3, 2}}, {{1, 1, 1}, {4, 1, 2}, {400, 100, 200}}, 11}}) == 68936);
}

TEST_CASE("no plan of four operands on two mesh axes costs more than the best alternative") {
  CHECK(run({{"ij,jk,kl,lm->im",
              {{2, 2}, {2, 3}},
              {{1, 1, 1, 1, 1}, {8, 1, 4, 1, 2}, {1, 5, 7, 3, 2}, {900, 100, 700, 90, 600}},
              2003},
             {"ij,jk,kl,l->i", {{2, 2}}, {{1, 1, 1, 1}, {4, 1, 6, 2}, {100, 300, 200, 400}}, 307},
             {"abc,ai,bj,ck->ijk", {{2, 2}}, {{1, 1, 1, 1, 1, 1}, {20, 30, 10, 50, 40, 20}}, 10007},
             {"ij,jk,kl,li->", {{2, 2}}, {{1, 1, 1, 1}, {4, 1, 2, 1}, {70, 90, 30, 20}}, 211}}) == 20123);
}

namespace {

// The distance of a search with less effort from the exact one, in price and in volume.
struct gap {
  std::int64_t cases = 0;
  std::int64_t off = 0;
  double worst = 1;
  double sum = 0;
  std::int64_t volume = 0;
  std::int64_t exact_volume = 0;
};

gap measure(std::vector<comparison> const& comparisons, search_effort effort) {
  gap all;
  for (comparison const& c : comparisons) {
    einsum_labels const names(c.einsum);
    for (auto const& mesh : c.meshes)
      for (auto const& extent : c.extents) {
        extents const e = make_extents(names.count(), times_devices(extent, mesh), mesh);
        for_each_problem(states_of(names, e.mesh_axes), e, c.one_in,
                         [&](einsum_problem const& problem, std::vector<std::size_t> const&) {
                           price_and_volume const exact = cost_of(plan_einsum(problem, {true, true, 320})).least;
                           price_and_volume const found = cost_of(plan_einsum(problem, effort)).least;
                           double const factor = static_cast<double>(found.price) / static_cast<double>(exact.price);
                           ++all.cases;
                           all.off += found.price > exact.price ? 1 : 0;
                           all.worst = std::max(all.worst, factor);
                           all.sum += factor;
                           all.volume += found.volume;
                           all.exact_volume += exact.volume;
                         });
      }
  }
  return all;
}

void report(std::string const& what, gap const& g) {
  MESSAGE(what, ": ", g.cases, " cases, ", g.off, " cost more than the best; mean factor ",
          g.sum / static_cast<double>(g.cases), ", worst ", g.worst, "; all volumes together ",
          static_cast<double>(g.volume) / static_cast<double>(g.exact_volume));
}

}  // namespace

TEST_CASE("no plan of three operands on three mesh axes costs more than the best alternative") {
  CHECK(run({{"ij,jk,kl->il", {{2, 2, 2}, {2, 3, 2}}, {{1, 1, 1, 1}, {1, 5, 7, 3}, {900, 2000, 1, 400}}, 200003},
             {"ij,jk,k->i", {{2, 2, 2}}, {{1, 1, 1}, {1, 5, 7}, {500, 300, 900}}, 4001},
             {"ij,jk,ki->", {{2, 2, 2}, {3, 2, 2}}, {{1, 1, 1}, {400, 100, 200}}, 10007}}) == 13798);
}

TEST_CASE("how much more the plans of a heuristic cost") {
  std::vector<comparison> const four = {
      {"ij,jk,kl,lm->im",
       {{2, 2}, {2, 3}},
       {{1, 1, 1, 1, 1}, {8, 1, 4, 1, 2}, {1, 5, 7, 3, 2}, {900, 100, 700, 90, 600}, {700, 700, 700, 700, 700}},
       8009},
      {"ij,jk,kl,l->i", {{2, 2}}, {{1, 1, 1, 1}, {4, 1, 6, 2}, {100, 300, 200, 400}}, 1201},
      {"abc,ai,bj,ck->ijk", {{2, 2}}, {{1, 1, 1, 1, 1, 1}, {20, 30, 10, 50, 40, 20}}, 20011},
      {"ij,jk,kl,li->", {{2, 2}}, {{1, 1, 1, 1}, {4, 1, 2, 1}, {70, 90, 30, 20}}, 811}};
  // More than four operands on two mesh axes: a few orders, every division.
  gap const orders = measure(four, {false, true, 320});
  report("orders by sizes alone", orders);
  // More mesh axes: fewer shardings of intermediates followed.
  std::vector<comparison> const cube = {
      {"ij,jk,kl->il", {{2, 2, 2}, {2, 3, 2}}, {{1, 1, 1, 1}, {9, 5, 7, 3}, {900, 2000, 1, 400}}, 3000017},
      {"ij,jk,kl,l->i", {{2, 2, 2}}, {{1, 1, 1, 1}, {100, 300, 200, 400}}, 1000003}};
  gap const shardings = measure(cube, {false, false, 128});
  report("orders by sizes alone, 128 shardings followed, three mesh axes", shardings);
  CHECK(orders.cases == 5812);
  CHECK(orders.sum / static_cast<double>(orders.cases) < 1.02);
  CHECK(orders.worst < 2.2);
  CHECK(shardings.sum / static_cast<double>(shardings.cases) < 1.01);
  CHECK(shardings.worst < 2.2);
}
