// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::for_these_sizes runs the plan for the actual sizes: the bytes that plan.for_sizes(…) predicts, and the right
/// numbers, whatever sizes a program switches between. C[I, K] = A[I, J_X] · B[J, K] is all-reduced for a long J, and
/// goes by rows of A for a short one.
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/byte_counter.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::dims;
using os::step;

namespace {

using left = os::tensor<double, I, J/X>;
using right = os::tensor<double, J, K>;
constexpr auto nominal = os::plan_of<dims<I, K>, left, right>;
constexpr auto with_policy = os::plan_of<dims<I, K>, left, right, decltype(os::for_these_sizes)>;

// Known while compiling: its plan for given sizes, which is the plan of an operation with these static extents.
OSTRAKA_AXIS(short_i, 8);
OSTRAKA_AXIS(long_j, 4096);
OSTRAKA_AXIS(short_k, 8);
OSTRAKA_MESH_AXIS(Four, 4);
constexpr auto for_actual = nominal.for_sizes(I = 8, J = 4096, K = 8, X = 4);
constexpr auto all_static =
    os::plan_of<dims<short_i, short_k>, os::sharding_of<short_i, long_j / Four>, os::sharding_of<long_j, short_k>>;
static_assert(nominal.count(step::all_reduce) == 0 && with_policy.count(step::all_reduce) == 0);
static_assert(for_actual.count(step::all_reduce) == 1 && for_actual.communications() == 1 &&
              for_actual.sizes.label[1] == 4096);
static_assert(all_static.count(step::all_reduce) == 1 && all_static.communications() == 1);

// It takes other policies, and they take it.
static_assert(os::is_policy<std::remove_const_t<decltype(os::for_these_sizes)>>);
static_assert(decltype(os::at_most<64>(os::for_these_sizes))::plans_at_run_time &&
              decltype(os::at_most<64>(os::for_these_sizes))::budget == 64);
static_assert(decltype(os::least_time<7>(os::for_these_sizes))::plans_at_run_time &&
              decltype(os::for_these_sizes(os::least_time<7>))::flops_per_byte == 7);
static_assert(decltype(os::within(8, os::for_these_sizes))::plans_at_run_time &&
              decltype(os::within(8, os::for_these_sizes))::limits_workspace);
static_assert(!decltype(os::cheapest)::plans_at_run_time);

std::int64_t reductions = 0;
std::int64_t others = 0;

std::vector<t::extents_by_letter> sizes() {
  std::vector<t::extents_by_letter> all;
  struct shape {
    std::int64_t i, j, k;
  };
  for (shape const& n : {shape{4, 512, 3}, {64, 24, 8}, {5, 7, 3}, {3, 0, 4}, {1, 1, 1}, {24, 24, 24}})
    all.push_back({{'B', 1}, {'I', n.i}, {'J', n.j}, {'K', n.k}, {'L', 1}});
  return all;
}

template <class Policy>
void check(t::test_mesh const& m, t::extents_by_letter const& e, Policy policy) {
  auto const whole_a = t::whole_numbers<double>("IJ", e, 71);
  auto const whole_b = t::whole_numbers<double>("JK", e, 72);
  auto wanted = t::product_by_loops("IK", whole_a, whole_b);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  constexpr auto plan = os::plan_of<dims<I, K>, left, right, Policy>;
  auto const predicted = plan.for_sizes(t::named(e), m.sizes());
  INFO(m.text(), t::text_of(e), os::describe(predicted, t::named(e), m.sizes()));
  ++(predicted.count(step::all_reduce) > 0 ? reductions : others);

  os::tensor<double, I, K> c;
  t::traffic const moved = t::traffic_of([&] { c = os::einsum<I, K>(a, b, policy); });
  CHECK(moved.bytes == predicted.total_bytes(t::named(e), m.sizes()));
  CHECK(t::disagreements(m, c, wanted) == 0);
  CHECK(t::disagreements(m, os::einsum<I, K>(a, b, os::within(1 << 20, policy)), wanted) == 0);

  os::einsum_into(c, a, b, os::alpha = 2.0, os::beta = 1.0, policy);
  for (double& x : wanted.values) x *= 3;
  CHECK(t::disagreements(m, c, wanted) == 0);
}

}  // namespace

TEST_CASE("products, to and fro between more sizes than are remembered") {
  reductions = others = 0;
  for (int round = 0; round < 2; ++round)
    t::on_every_mesh([](t::test_mesh const& m) {
      for (t::extents_by_letter const& e : sizes()) {
        check(m, e, os::for_these_sizes);
        check(m, e, os::for_these_sizes(os::least_time<100>));
      }
    });
  CHECK(others > 0);
  if (t::ranks() > 1) CHECK(reductions > 0);
}

TEST_CASE("reductions and reshards") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : sizes()) {
      INFO(m.text(), t::text_of(e));
      auto const whole = t::whole_numbers<double>("IJ", e, 73);
      auto const a = t::placed<os::tensor<double, I, J/X, os::partial(Y)>>(m, whole);
      os::tensor<double, I> s;
      t::traffic moved = t::traffic_of([&] { s = os::sum<I>(a, os::for_these_sizes); });
      CHECK(moved.bytes == os::plan<I>(a).for_sizes(t::named(e), m.sizes()).total_bytes(t::named(e), m.sizes()));
      CHECK(t::disagreements(m, s, t::sum_by_loops("I", whole)) == 0);

      os::tensor<double, I, J, os::partial(Y)> r;
      moved = t::traffic_of([&] { r = os::reshard<I, J, os::partial(Y)>(a, os::for_these_sizes); });
      CHECK(moved.bytes == os::reshard_plan<I, J, os::partial(Y)>(a)
                               .for_sizes(t::named(e), m.sizes())
                               .total_bytes(t::named(e), m.sizes()));
      CHECK(t::disagreements(m, os::reshard<I, J>(r), whole) == 0);
      auto const into = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 76));
      os::reshard_into(into, a, os::for_these_sizes);
      CHECK(t::disagreements(m, into, whole) == 0);
    }
  });
}

TEST_CASE("a budget is of the plan that is run") {
  if (t::ranks() != 4) return;
  t::test_mesh const m({"XYZ", {4, 1, 1}});
  t::extents_by_letter const e{{'B', 1}, {'I', 2}, {'J', 512}, {'K', 2}, {'L', 1}};
  auto const a = t::placed<left>(m, t::whole_numbers<double>("IJ", e, 74));
  auto const b = t::placed<right>(m, t::whole_numbers<double>("JK", e, 75));
  CHECK_THROWS_AS(static_cast<void>(os::einsum<I, K>(a, b, os::at_most<100>)), os::error const&);
  CHECK_NOTHROW(static_cast<void>(os::einsum<I, K>(a, b, os::at_most<100>(os::for_these_sizes))));
  CHECK_THROWS_AS(static_cast<void>(os::einsum<I, K>(a, b, os::at_most<40>(os::for_these_sizes))), os::error const&);
}
