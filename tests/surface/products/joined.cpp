// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Contractions that do the work of the gather before or the reduce-scatter after them (plan/decisions/fused.hpp),
/// against plain loops: the moved tensor is large and the third label short, so that the loops are few. Repeated
/// results have the same bits on all devices.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

int joined_gathers = 0;
int joined_scatters = 0;
int rings = 0;

void count_joined(os::planner::einsum_plan const& plan, os::planner::extents const& e) {
  os::planner::decisions const decided = os::planner::decide(plan, e);
  for (int i = 0; i < plan.steps.size(); ++i) rings += decided[i].ring >= 0 ? 1 : 0;
  for (int i = 0; i < plan.steps.size(); ++i)
    if (!os::contracts(plan.steps[i].kind) && decided[i].fused >= 0)
      ++(plan.steps[i].kind == os::step::all_gather ? joined_gathers : joined_scatters);
}

// C <- A · B and C <- 2 A · B + 3 C, at once and within a quarter of the workspace
template <class T, auto... Out, auto... DimsA, auto... DimsB, class Policy = decltype(os::cheapest)>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>,
           Policy policy = {}) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = os::tensor<T, Out...>;
  constexpr auto plan = os::plan_of<dims<Out...>, left, right, Policy>;
  os::planner::extents const sizes = plan.extents_of(t::named(e), m.sizes());
  count_joined(plan, sizes);
  auto const whole_a = t::whole_numbers<T>(t::letters_in<left>(), e, 41);
  auto const whole_b = t::whole_numbers<T>(t::letters_in<right>(), e, 42);
  auto const before = t::whole_numbers<T>(t::letters_in<result>(), e, 43);
  auto wanted = t::product_by_loops(t::letters_in<result>(), whole_a, whole_b);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  INFO(m.text(), t::text_of(e), "\n", os::describe(plan, t::named(e), m.sizes()));

  std::int64_t const copied_before = os::engine::copied_bytes;
  auto const c = os::einsum<Out...>(a, b, policy);
  CHECK(os::engine::copied_bytes - copied_before <=
        std::int64_t(sizeof(T)) * os::planner::copied_elements(plan, sizes));
  CHECK(t::disagreements(m, c, wanted) == 0);
  auto const quarter = static_cast<std::int64_t>(sizeof(T)) * os::planner::peak_workspace(plan, sizes) / 4;
  if (plan.within(quarter, t::named(e), m.sizes()).fits)
    CHECK(t::disagreements(m, os::einsum<Out...>(a, b, os::within(quarter, policy)), wanted) == 0);

  auto const sum = t::placed<result>(m, before);
  os::einsum_into(sum, a, b, os::alpha = T(2), os::beta = T(3), policy);
  for (std::size_t i = 0; i < wanted.values.size(); ++i)
    wanted.values[i] = T(2) * wanted.values[i] + T(3) * before.values[i];
  CHECK(t::disagreements(m, sum, wanted) == 0);
}

// A large, B large, C large
std::vector<t::extents_by_letter> extents() {
  return {{{'B', 1}, {'I', 256}, {'J', 256}, {'K', 3}, {'L', 1}},
          {{'B', 1}, {'I', 3}, {'J', 256}, {'K', 256}, {'L', 1}},
          {{'B', 1}, {'I', 256}, {'J', 4}, {'K', 256}, {'L', 1}}};
}

}  // namespace

TEST_CASE("gathers and reduce-scatters that a contraction does") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      check<double>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{}, os::gather_left);  // along the sum, for all alike
      check<float>(m, e, dims<K, I>{}, dims<J, I/X>{}, dims<J, K>{});       // gathered along rows, for all alike
      check<double>(m, e, dims<I, K/X>{}, dims<I, J/X>{}, dims<J, K/X>{});  // along the sum, for each something else
      check<std::int64_t>(m, e, dims<I/X, K>{}, dims<I/X, J>{}, dims<J, K/X>{});    // along columns, in messages
      check<double>(m, e, dims<I/X, K>{}, dims<I/X, J>{}, dims<J/X, K>{});          // in order
      check<double>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});    // a feed-forward layer, in
      check<double>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/Y, K/X>{});    // and out
      check<double>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});          // scattered over rows
      check<std::int32_t>(m, e, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});    // over columns
      check<double>(m, e, dims<K, I/X/Y>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K>{});    // along two mesh axes
    }
  });
  if (t::ranks() > 1) CHECK(joined_gathers > 4);
  if (t::ranks() > 1) CHECK(joined_scatters > 2);
}

TEST_CASE("products that overlap the moves next to them as rings") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e :
         std::vector<t::extents_by_letter>{{{'B', 1}, {'I', 8}, {'J', 1024}, {'K', 512}, {'L', 1}},
                                           {{'B', 1}, {'I', 1030}, {'J', 3}, {'K', 519}, {'L', 1}},
                                           {{'B', 1}, {'I', 1034}, {'J', 517}, {'K', 2}, {'L', 1}}}) {
      check<double>(m, e, dims<I/X, K>{}, dims<I/X, J>{}, dims<J/X, K>{}, os::overlapped);
      check<std::int64_t>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{}, os::overlapped_both_ways);
      check<float>(m, e, dims<I, K/X>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K>{}, os::overlapped);
      check<std::int32_t>(m, e, dims<K, I>{}, dims<J, I/X>{}, dims<J, K>{},
                          os::overlapped_both_ways(os::gather_left));
    }
  });
  if (t::ranks() > 1) CHECK(rings > 3);
}

TEST_CASE(
    "parts are multiplied one by one where what is walked again is not much larger than what need not be copied") {
  constexpr auto scatter = os::plan_of<dims<I/X, K>, os::tensor<double, I, J/X>, os::tensor<double, J/X, K>>;
  constexpr auto gather =
      os::plan_of<dims<I, K>, os::tensor<double, I, J/X>, os::tensor<double, J, K>, decltype(os::gather_left)>;
  auto const joins = [](auto const& plan, std::int64_t i, std::int64_t j, std::int64_t k) {
    auto const e = plan.extents_of(I = i, J = j, K = k, X = 2);
    os::planner::decisions const decided = os::planner::decide(plan, e);
    for (int s = 0; s < plan.steps.size(); ++s)
      if (decided[s].fused >= 0) return true;
    return false;
  };
  CHECK(joins(scatter, 64, 64, 64));
  CHECK(joins(scatter, 1024, 1024, 1024));
  CHECK(joins(scatter, 1024, 64, 64));
  CHECK_FALSE(joins(scatter, 32, 32, 32));      // a part of 512 elements
  CHECK_FALSE(joins(scatter, 64, 1024, 1024));  // B has eight times as many elements as C
  CHECK_FALSE(joins(scatter, 16, 1024, 1024));  // eight rows a part
  CHECK(joins(gather, 64, 64, 64));
  CHECK(joins(gather, 1024, 32, 64));       // sixteen of J a part
  CHECK_FALSE(joins(gather, 1024, 8, 16));  // four
}

#if OSTRAKA_ENABLE_MPI

TEST_CASE("bits are the same on all devices and in all runs") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const extents = os::sizes(I = 96, J = 2048, K = 40);
  auto const a = os::random<os::tensor<double, I, J/X>>(mesh, extents, os::seed(3));
  auto const b = os::random<os::tensor<double, J, K>>(mesh, extents, os::seed(4));
  auto const c = os::einsum<I, K>(a, b, os::gather_left);
  auto const again = os::einsum<I, K>(a, b, os::gather_left);
  std::size_t const elements = c.local().size();
  std::vector<double> const mine = t::read_elements(c.local().data(), elements);
  std::vector<double> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(elements), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(std::memcmp(first.data(), mine.data(), elements * sizeof(double)) == 0);
  std::vector<double> const second = t::read_elements(again.local().data(), elements);
  CHECK(std::memcmp(first.data(), second.data(), elements * sizeof(double)) == 0);
}

#endif
