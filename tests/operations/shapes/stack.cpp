// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One index of an axis, and tensors side by side along a new one, against plain loops; their derivatives against
/// differences.
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

/// x[…, at, …] along that label.
template <class T>
t::global_tensor<T> index_of(t::global_tensor<T> const& x, char label, std::int64_t at, std::string const& out) {
  t::global_tensor<T> want{out, x.extents, {}};
  want.extents.erase(label);
  t::for_each_index(out, want.extents, [&](t::extents_by_letter e) {
    e[label] = at;
    want.values.push_back(x.values[x.position(e)]);
  });
  return want;
}

/// Checks the result against the expected one, and the moved bytes against the predicted.
template <class A, auto... Out, class T>
void check_index(t::test_mesh const& m, t::global_tensor<T> const& x, std::string const& out) {
  auto const a = t::placed<A>(m, x);
  for (std::int64_t at = 0; at < x.extents.at('J'); ++at) {
    decltype(os::take<J, Out...>(a, at)) got;
    auto const moved = t::traffic_of([&] { got = os::take<J, Out...>(a, at); });
    if constexpr (sizeof...(Out) > 0) {
      os::operation::take_at<J_axis, os::sharding_of<Out...>> const how{at};
      CHECK((moved.bytes + t::ranks() - 1) / t::ranks() == os::bytes_of(how, a));
    } else {
      CHECK(moved.bytes == 0);
    }
    CHECK(t::disagreements(m, got, index_of(x, 'J', at, out)) == 0);
  }
}

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 8}, {'J', 6}, {'K', 12}}, {{'B', 5}, {'J', 3}, {'K', 1}}, {{'B', 2}, {'J', 1}, {'K', 0}}};
}

}  // namespace

TEST_CASE("an index of an axis, whole and divided, of all kinds of elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const x = t::whole_numbers<float>("BJK", e, 3);
      check_index<os::tensor<float, B/X, J, K/Y>>(m, x, "BK");
      check_index<os::tensor<float, B, J, K/Y/X>>(m, x, "BK");
      check_index<os::tensor<float, B/X, J, K>, K/Y, B/X>(m, x, "KB");
      check_index<os::tensor<float, B, J/X, K/Y>, B, K/Y>(m, x, "BK");
      check_index<os::tensor<float, B/X, J/Y, K>, B/X, K/Y>(m, x, "BK");
      check_index<os::tensor<float, B, J/X/Y, K>, B, K>(m, x, "BK");
      auto const few = t::whole_numbers<std::int8_t>("JK", e, 3);
      check_index<os::tensor<std::int8_t, J, K/X>>(m, few, "K");
      auto const row = t::whole_numbers<Kokkos::complex<double>>("J", e, 3);
      check_index<os::tensor<Kokkos::complex<double>, J>>(m, row, "");
    }
  });
}

TEST_CASE("an index that the axis has not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<float, B/X, J>>(m, t::whole_numbers<float>("BJ", {{'B', 4}, {'J', 3}}, 1));
    CHECK(t::said_alike([&] { static_cast<void>(os::take<J>(a, 3)); })
              .find("take: an index is one of 0 … 2 along J, but it is 3; ") == 0);
    CHECK(t::said_alike([&] { static_cast<void>(os::take<J>(a, -1)); }).find("but it is -1; ") != std::string::npos);
    CHECK(t::said_alike([&] { static_cast<void>(os::take<B, J>(a, std::uint8_t{4})); }).find("0 … 3 along B") !=
          std::string::npos);
  });
}

TEST_CASE("tensors side by side, and apart again") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const x = t::whole_numbers<double>("BJK", e, 7);
      auto const all = t::placed<os::tensor<double, B/X, J, K/Y>>(m, x);
      std::vector<os::tensor<double, B/X, K/Y>> parts;
      for (std::int64_t j = 0; j < e.at('J'); ++j) parts.push_back(os::take<J>(all, j));
      auto const moved = t::traffic_of([&] {
        CHECK(t::disagreements(m, os::stack<B/X, J, K/Y>(parts), x) == 0);
        CHECK(t::disagreements(m, os::stack<B/X, K/Y, J>(parts), x) == 0);
        CHECK(t::disagreements(m, os::stack<J>(parts), x) == 0);
      });
      CHECK(moved.bytes == 0);
      std::array<os::tensor<double, B/X, K/Y>, 1> const one{parts[0]};
      CHECK(t::disagreements(m, os::take<J>(os::stack<J>(one), 0), index_of(x, 'J', 0, "BK")) == 0);
      if (e.at('J') == 3) CHECK(t::disagreements(m, os::stack<J>(parts[0], parts[1], parts[2]), x) == 0);
    }
    std::vector<os::tensor<float>> losses;
    for (int k = 0; k < 11; ++k)
      losses.push_back(
          t::placed<os::tensor<float>>(m, t::global_tensor<float>{"", {}, {static_cast<float>(k)}}));
    t::global_tensor<float> counted{"J", {{'J', 11}}, {}};
    for (int k = 0; k < 11; ++k) counted.values.push_back(static_cast<float>(k));
    CHECK(t::disagreements(m, os::stack<J>(losses), counted) == 0);
  });
}

TEST_CASE("summands stay summands; extents differ; none") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const x = t::whole_numbers<float>("BK", {{'B', 4}, {'K', 3}}, 1);
    auto const a = t::placed<os::tensor<float, B/X, K>>(m, x);
    auto const part = os::sum<K, os::partial(X)>(a);
    auto const both = os::stack<J>(part, part);
    static_assert(std::is_same_v<std::remove_const_t<decltype(both)>, os::tensor<float, J, K, os::partial(X)>>);
    auto const sums = os::sum<K>(os::all_reduce<X>(both));
    auto const expected = os::sum<K>(a);
    CHECK(os::value(os::sum<>(os::abs(sums - (expected + expected)))) == 0);
    auto const shorter = os::window<K>(a, 0, 2);
    CHECK(t::said_alike([&] { static_cast<void>(os::stack<J>(a, shorter)); }).find("stack: ") == 0);
    CHECK(t::said_alike([&] { static_cast<void>(os::stack<J>(std::vector<os::tensor<float, B/X, K>>())); })
              .find("stack: ") == 0);
  });
}

TEST_CASE("in bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 5}, {'J', 3}, {'K', 4}};
    auto const x = t::whole_numbers<float>("BJK", e, 3);
    auto const a = t::placed<os::tensor<float, B/X, J, K>>(m, x);
    auto const back = os::shard_map<B/X, J, K>(
        [](auto const& block) {
          return os::stack<B, J, K>(os::take<J>(block, 0), os::take<J>(block, 1), os::take<J>(block, 2));
        },
        a);
    CHECK(t::disagreements(m, back, x) == 0);
  });
}

TEST_CASE("derivatives of both, and theirs") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'B', 3}, {'J', 4}, {'K', 2}};
    using cube = os::tensor<double, B/X, J, K>;
    auto const step = [](auto const& p, std::int64_t j) { return os::tanh(os::take<J>(p, j)); };
    auto const recurrence = [&](auto const& p) {  // the state of each step, all of them
      auto state = step(p, 0);
      std::vector<decltype(state)> states{state};
      for (std::int64_t j = 1; j < 4; ++j) {
        state = state * state + step(p, j);
        states.push_back(state);
      }
      auto const all = os::stack<B/X, J, K>(states);
      return os::sum<>(all * all * p);
    };
    t::check_by_differences<cube>(m, e, "BJK", recurrence);
    auto const fixed = t::placed<cube>(m, t::whole_numbers<double>("BJK", e, 2));
    auto const mixed = [&](auto const& p) {  // constants among variables
      auto const first = os::take<J>(fixed, 0);
      auto const all = os::stack<J>(first, os::take<J>(p, 1), first, os::exp(os::take<J>(p, 2)));
      return os::sum<>(all * all);
    };
    t::check_by_differences<cube>(m, e, "BJK", mixed);
    t::check_by_differences<os::tensor<double, B, J/X, K>>(m, e, "BJK", [](auto const& p) {
      auto const row = os::take<J, B, K>(p, 2);
      return os::sum<>(row * row * row);
    });
    auto const gradient = os::value_and_grad(recurrence);
    t::check_by_differences<cube>(m, e, "BJK", [&](auto const& p) {
      auto const g = gradient(p).gradient;
      return os::sum<>(g * g);
    });
    auto const again = os::checkpoint(recurrence);
    auto const one = os::value_and_grad(recurrence)(fixed).gradient;
    auto const other = os::value_and_grad([&](auto const& p) { return again(p); })(fixed).gradient;
    CHECK(os::value(os::sum<>(os::abs(one - other))) == 0);
  });
}

namespace {

constexpr auto pair_of_rows = [](auto const& p) {
  auto const row = os::take<J, B, K>(p, 1);
  auto const both = os::stack<J>(row, os::exp(row));
  return os::sum<>(both * both);
};
using table = os::tensor<double, B, J/X, K>;
constexpr auto plan_of_pair = os::gradient_plan<table>(pair_of_rows);
static_assert(plan_of_pair.unpriced() == 0);
static_assert(plan_of_pair.backward.count(os::step::all_reduce) == 0);  // each has the cotangent of its part

}  // namespace

TEST_CASE("what an index of a divided axis moves is predicted") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    auto const a = t::placed<table>(m, t::whole_numbers<double>("BJK", {{'B', 6}, {'J', 4}, {'K', 8}}, 2));
    auto const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(pair_of_rows)(a)); });
    auto const at = os::sizes(B = 6, J = 4, K = 8, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z"));
    CHECK(moved.bytes == plan_of_pair.total_bytes(at));
  });
}
