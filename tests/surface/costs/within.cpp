// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4

/// @file
/// os::within(bytes): under every limit that its plan can keep, an operation gives the same result, moves the same
/// bytes and takes no more scratch memory; under any other it throws on all ranks before anything is sent.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::dims;

namespace {

using pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>;

int at_once = 0;
int in_passes = 0;
int refused = 0;
int others = 0;  // run by another plan than the planner's own

// Runs `operation` under limits from its workspace in one pass downwards, and checks its result.
template <class Plan, class Operation, class Wrong>
void check(t::test_mesh const& m, t::extents_by_letter const& e, Plan const& plan, Operation&& operation,
           Wrong&& wrong) {
  std::int64_t const full = plan.workspace(t::named(e), m.sizes());
  for (std::int64_t limit :
       {full, full - 1, full / 2, full / 3, full / 5, full / 8, full / 16, std::int64_t(8), std::int64_t(0)}) {
    if (limit < 0) continue;
    os::passes_within const predicted = plan.within(limit, t::named(e), m.sizes());
    auto const fitting = plan.fitting(limit, t::named(e), m.sizes());
    INFO(m.text(), t::text_of(e), "within ", limit, " of ", full, " B: ", predicted.count, " passes over ",
         std::string(predicted.label), "\n", os::describe(fitting, t::named(e), m.sizes()));
    CHECK(predicted.fits == (predicted.workspace <= limit));
    pool::instance().release();
    std::size_t const before = pool::instance().held_bytes();
    std::string said;
    t::traffic const moved = t::traffic_of([&] {
      try {
        operation(limit);
      } catch (os::error const& error) {
        said = error.what();
      }
    });
    CHECK(said.empty() == predicted.fits);
    if (!said.empty()) {
      ++refused;
      CHECK(moved.calls == 0);
      CHECK(said.find("os::within(" + std::to_string(limit) + ") is the workspace") != std::string::npos);
      continue;
    }
    ++(predicted.count > 1 ? in_passes : at_once);
    if (os::describe(fitting) != os::describe(plan)) ++others;
    CHECK(wrong() == 0);
    CHECK(moved.bytes == fitting.total_bytes(t::named(e), m.sizes()));
    // The workspace of kernels belongs to no plan, and is counted apart (docs/design/memory.md).
    std::int64_t const by_kernels = static_cast<std::int64_t>(pool::instance().most_used_by_kernels());
    CHECK(static_cast<std::int64_t>(pool::instance().most_used_by_plans()) <= limit);
    CHECK(static_cast<std::int64_t>(pool::instance().held_bytes() - before) <= limit + by_kernels);
  }
}

std::vector<t::extents_by_letter> extents() {
  return {{{'B', 4}, {'I', 16}, {'J', 24}, {'K', 12}, {'L', 2}},
          {{'B', 3}, {'I', 7}, {'J', 5}, {'K', 9}, {'L', 2}},
          {{'B', 2}, {'I', 3}, {'J', 0}, {'K', 5}, {'L', 3}}};
}

template <auto... Out, auto... DimsA, auto... DimsB>
void check(t::test_mesh const& m, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  using result = os::tensor<double, Out...>;
  for (t::extents_by_letter const& e : extents()) {
    auto const whole_a = t::whole_numbers<double>(t::letters_in<left>(), e, 41);
    auto const whole_b = t::whole_numbers<double>(t::letters_in<right>(), e, 42);
    auto const wanted = t::product_by_loops(t::letters_in<result>(), whole_a, whole_b);
    auto const a = t::placed<left>(m, whole_a);
    auto const b = t::placed<right>(m, whole_b);
    result c;
    check(m, e, os::plan<Out...>(a, b), [&](std::int64_t limit) { c = os::einsum<Out...>(a, b, os::within(limit)); },
          [&] { return t::disagreements(m, c, wanted); });
  }
}

template <auto... Out, auto... DimsA>
void check_reductions(t::test_mesh const& m, dims<Out...>, dims<DimsA...>) {
  using source = os::tensor<double, DimsA...>;
  using result = os::tensor<double, Out...>;
  for (t::extents_by_letter const& e : extents()) {
    auto const whole = t::whole_numbers<double>(t::letters_in<source>(), e, 44);
    auto const a = t::placed<source>(m, whole);
    result r;
    check(m, e, os::plan<Out...>(a), [&](std::int64_t limit) { r = os::sum<Out...>(a, os::within(limit)); },
          [&] { return t::disagreements(m, r, t::sum_by_loops(t::letters_in<result>(), whole)); });
  }
}

template <auto... To, auto... From>
void check_reshard(t::test_mesh const& m, dims<To...>, dims<From...>) {
  using source = os::tensor<double, From...>;
  for (t::extents_by_letter const& e : extents()) {
    auto const whole = t::whole_numbers<double>(t::letters_in<source>(), e, 43);
    auto const a = t::placed<source>(m, whole);
    os::tensor<double, To...> r;
    check(m, e, os::reshard_plan<To...>(a), [&](std::int64_t limit) { r = os::reshard<To...>(a, os::within(limit)); },
          [&] { return t::disagreements(m, r, whole); });
  }
}

}  // namespace

TEST_CASE("products") {
  at_once = in_passes = refused = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    check(m, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{});
    check(m, dims<I/X, K>{}, dims<I/X, J>{}, dims<J, K/X>{});
    check(m, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    check(m, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B, J/X, K>{});
    check(m, dims<K, I, os::partial(X)>{}, dims<I, J/X>{}, dims<J/X/Y, K>{});
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", refused, " refused");
  if (t::ranks() > 1) CHECK(in_passes > 50);
}

TEST_CASE("products whose own plan fits in no passes go another way") {
  at_once = in_passes = refused = others = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    check(m, dims<I/X, K>{}, dims<I, J>{}, dims<J/X, K>{});
    check(m, dims<I, K>{}, dims<I/X, J>{}, dims<J, K/X>{});
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", others, " by other plans, ", refused, " refused");
  if (t::ranks() > 1) CHECK(others > 5);
}

TEST_CASE("reshards") {
  at_once = in_passes = refused = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    check_reshard(m, dims<I, J/X>{}, dims<I/X, J>{});
    check_reshard(m, dims<I/Y/X, J>{}, dims<I/X/Y, J>{});
    check_reshard(m, dims<I/Y, B, K>{}, dims<I, B/Y, K/X>{});
    check_reshard(m, dims<I, J>{}, dims<I, J/X/Y>{});
    check_reshard(m, dims<I/Y, J/X>{}, dims<I, J, os::partial(X)>{});
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", refused, " refused");
  if (t::ranks() > 1) CHECK(in_passes > 50);
}

TEST_CASE("reductions") {
  at_once = in_passes = refused = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    check_reductions(m, dims<I>{}, dims<I/X, J>{});
    check_reductions(m, dims<J, I/X>{}, dims<I, J, K/X>{});
    check_reductions(m, dims<I, K>{}, dims<I, J/Y, K, os::partial(X)>{});
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", refused, " refused");
  if (t::ranks() > 1) CHECK(in_passes > 20);
}

TEST_CASE("a diagonal, which may be a copy for the whole length of the operation") {
  at_once = in_passes = refused = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 1}, {'I', 10}, {'J', 10}, {'K', 12}, {'L', 1}};
    auto const whole_a = t::whole_numbers<double>("IJ", e, 51);
    auto const whole_b = t::whole_numbers<double>("IK", e, 52);
    auto const a = os::relabel<I, I>(t::placed<os::tensor<double, I/X, J/Y>>(m, whole_a));
    auto const b = t::placed<os::tensor<double, I, K/X>>(m, whole_b);
    auto wanted = t::whole_numbers<double>("IK", e, 53);
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t k = 0; k < 12; ++k)
        wanted.values[i * 12 + k] = whole_a.values[i * 10 + i] * whole_b.values[i * 12 + k];
    os::tensor<double, I, K> c;
    check(m, e, os::plan<I, K>(a, b), [&](std::int64_t limit) { c = os::einsum<I, K>(a, b, os::within(limit)); },
          [&] { return t::disagreements(m, c, wanted); });
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", refused, " refused");
}

TEST_CASE("three operands, and adding to what is there") {
  at_once = in_passes = refused = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      using left = os::tensor<double, I/X, J>;
      using middle = os::tensor<double, J, K/X>;
      using right = os::tensor<double, K/X, L>;
      auto const whole_a = t::whole_numbers<double>("IJ", e, 45);
      auto const whole_b = t::whole_numbers<double>("JK", e, 46);
      auto const whole_c = t::whole_numbers<double>("KL", e, 47);
      auto const a = t::placed<left>(m, whole_a);
      auto const b = t::placed<middle>(m, whole_b);
      auto const c = t::placed<right>(m, whole_c);
      os::tensor<double, I, L> d;
      check(
          m, e, os::plan<I, L>(a, b, c), [&](std::int64_t limit) { d = os::einsum<I, L>(a, b, c, os::within(limit)); },
          [&] {
            return t::disagreements(m, d,
                                    t::product_by_loops("IL", t::product_by_loops("IK", whole_a, whole_b), whole_c));
          });

      // D <- 2 A B + 3 D
      using sum = os::tensor<double, I/X, K>;
      auto const whole_d = t::whole_numbers<double>("IK", e, 48);
      auto wanted = t::product_by_loops("IK", whole_a, whole_b);
      for (std::size_t i = 0; i < wanted.values.size(); ++i)
        wanted.values[i] = 2 * wanted.values[i] + 3 * whole_d.values[i];
      sum f;
      check(m, e, os::plan<I/X, K>(a, b),
            [&](std::int64_t limit) {
              f = t::placed<sum>(m, whole_d);
              os::einsum_into(f, a, b, os::beta = 3, os::within(limit), os::alpha = 2);
            },
            [&] { return t::disagreements(m, f, wanted); });
    }
  });
  MESSAGE(at_once, " at once, ", in_passes, " in passes, ", refused, " refused");
  if (t::ranks() > 1) CHECK(in_passes > 20);
}

TEST_CASE("together with a budget and another policy") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = extents()[0];
    auto const a = t::placed<os::tensor<double, I, J/X>>(m, t::whole_numbers<double>("IJ", e, 49));
    auto const b = t::placed<os::tensor<double, J/X, K>>(m, t::whole_numbers<double>("JK", e, 50));
    auto const wanted =
        t::product_by_loops("IK", t::whole_numbers<double>("IJ", e, 49), t::whole_numbers<double>("JK", e, 50));
    constexpr std::int64_t enough = 1536;
    CHECK(t::disagreements(m, os::einsum<I, K>(a, b, os::within(enough, os::reduce_result)), wanted) == 0);
    CHECK(t::disagreements(m, os::einsum<I, K>(a, b, os::within<enough>(os::reduce_result)), wanted) == 0);
    CHECK(t::disagreements(m, os::einsum<I, K>(a, b, os::at_most<1 << 20>(os::within(enough))), wanted) == 0);
    CHECK(t::disagreements(m, os::einsum<I, K>(a, b, os::within(enough, os::at_most<1 << 20>)), wanted) == 0);
    if (t::ranks() == 1) return;
    auto const g = t::placed<os::tensor<double, I, J>>(m, t::whole_numbers<double>("IJ", e, 49));
    CHECK(t::disagreements(m, os::einsum<I, K>(g, b, os::gather_right), wanted) == 0);
    if (m.size("X") > 1)
      CHECK_THROWS_AS(static_cast<void>(os::einsum<I, K>(g, b, os::within(4, os::gather_right))), os::error);
    if (m.size("X") > 1)
      CHECK_THROWS_AS(static_cast<void>(os::einsum<I, K>(g, b, os::within<4>(os::gather_right))), os::error);
  });
}
