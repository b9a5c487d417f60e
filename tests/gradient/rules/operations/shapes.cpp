// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of operations that rearrange a tensor, by differences of the plain program, of even, uneven and empty
/// blocks; and that a backward moves no more than the forward did.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <string>
#include <utility>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

std::vector<t::extents_by_letter> extents() {
  return {{{'B', 2}, {'I', 3}, {'J', 5}}, {{'B', 1}, {'I', 8}, {'J', 4}}, {{'B', 3}, {'I', 1}, {'J', 2}}};
}

// Σ a² weight: all elements have derivatives of their own.
template <class A, class W>
auto weighed(A const& a, W const& w) {
  return os::sum<>(os::multiply(os::multiply(a, a), w));
}

template <class Type>
Type weights(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& letters) {
  return t::placed<Type>(m, t::whole_numbers<double>(letters, e, 2));
}

}  // namespace

TEST_CASE("windows, pads, rolls, flips and concatenations") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I/X, J/Y>;
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      std::int64_t const n = e.at('I');
      t::extents_by_letter longer = e;
      longer['I'] = 3 * n + 3;  // of the concatenated tensors: n + 3, n and n
      auto const w = weights<matrix>(m, longer, "IJ");
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        auto const padded = os::pad<I/X>(os::roll<I/X>(os::lower_triangle<I, J>(p, os::diagonal(1)), 2), 1, 2, 0.5);
        return weighed(os::concatenate<I/X>(padded, os::flip<I/X>(p), os::window<I/X>(padded, 1, n + 1)), w);
      });
      t::extents_by_letter fewer = e;
      fewer['J'] = (e.at('J') + 1) / 3;
      auto const v = weights<os::tensor<double, I/X, J/Y>>(m, fewer, "IJ");
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {  // every third from the second on
        return weighed(os::window<J/Y>(p, 1, e.at('J'), 3), v);
      });
    }
  });
}

TEST_CASE("splits, merges, broadcasts and transposes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter e : extents()) {
      INFO(m.text(), t::text_of(e));
      std::int64_t const x = m.size("X");
      e['B'] = x;
      auto const w = weights<os::tensor<double, K/Y, J, B/X, I>>(
          m, {{'K', 3}, {'J', e['J']}, {'B', 2 * x}, {'I', e['I']}}, "KJBI");
      t::check_by_differences<os::tensor<double, J, B/X, I>>(m, e, "JBI", [&](auto const& p) {
        auto const long_rows = os::pad<K/X>(os::merge<B, I, K>(p), 0, x * e.at('I'));
        auto const turned = os::transpose<K, J>(long_rows);
        auto const rows = os::split<K, B, I>(turned, B = 2 * x);
        return weighed(os::broadcast<K/Y, J, B/X, I>(os::transpose<J, B, I>(rows), K = 3), w);
      });
    }
  });
}

TEST_CASE("verbs of one move; a variable is looked at as its value is") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I/X, J>;
    t::extents_by_letter const e{{'I', 5}, {'J', 3}};
    INFO(m.text());
    auto const w = weights<os::tensor<double, I, J>>(m, e, "IJ");
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      CHECK(os::visualize(p) == os::visualize(t::placed<matrix>(m, t::whole_numbers<double>("IJ", e, 2))));
      auto const turned = os::all_to_all<J/X>(p);
      return weighed(os::slice<I/Z>(os::all_gather<X>(turned)), os::slice<I/Z>(w));
    });
  });
}

TEST_CASE("a backward moves what the forward moved, the other way") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") != t::ranks() || t::ranks() == 1) return;
    INFO(m.text());
    std::int64_t const n = t::ranks();
    t::extents_by_letter const e{{'I', 4 * n}, {'J', 3}};
    auto const p = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const moved = [&](auto const& f) {
      auto const loss = [&](auto const& a) { return os::sum<>(f(a)); };
      std::int64_t const forward = t::traffic_of([&] { static_cast<void>(loss(p)); }).bytes;
      std::int64_t const both = t::traffic_of([&] { static_cast<void>(os::value_and_grad(loss)(p)); }).bytes;
      return std::pair(forward - 16 * (n - 1), both - forward);  // but for the sum of one number
    };
    auto const rolled = moved([](auto const& a) { return os::roll<I/X>(a, 1); });
    CHECK(rolled.first == 3 * 8 * n);
    CHECK(rolled.second == rolled.first);
    auto const halved = moved([&](auto const& a) { return os::window<I/X>(a, 0, 2 * n); });
    CHECK(halved.second == halved.first);
    auto const broad = moved([&](auto const& a) { return os::broadcast<B, I/X, J>(a, B = 3); });
    CHECK(broad.first == 0);
    CHECK(broad.second == 0);
    // A weight that was gathered, split and transposed still needs one reduce-scatter.
    t::extents_by_letter const f{{'I', 2 * n}, {'J', 6}, {'B', 4 * n}};
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", f, 1));
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", f, 1));
    auto const loss = [&](auto const& a) {
      auto const heads = os::transpose<K, L, I>(os::split<J, K, L>(os::all_gather<X>(a), K = 2));
      return os::sum<>(os::einsum<B/X, K, L>(x, heads));
    };
    std::int64_t const forward = t::traffic_of([&] { static_cast<void>(loss(w)); }).bytes;
    std::int64_t const both = t::traffic_of([&] { static_cast<void>(os::value_and_grad(loss)(w)); }).bytes;
    CHECK(both - forward == (n - 1) * 2 * n * 6 * 8);
  });
}
