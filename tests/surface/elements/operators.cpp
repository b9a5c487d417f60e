// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operators, comparisons and os::where against plain loops: tensors that share some axes or none, numbers on either
/// side, small integers, NaN, partial tensors; in bodies of os::shard_map.
// ranks: 1 2 3 4 6 8
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The number of elements on this device that differ from `of` applied to the elements of a[I, J] and b[J].
template <class Result, class T, class Of>
std::int64_t wrong(Result const& r, t::global_tensor<T> const& a, t::global_tensor<T> const& b, Of const& of) {
  auto const columns = static_cast<std::int64_t>(b.values.size());
  std::int64_t count = 0;
  auto const block = t::host_block(r);
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j) {
      auto const row = r.range(0).begin + static_cast<std::int64_t>(i);
      auto const column = r.range(1).begin + static_cast<std::int64_t>(j);
      auto const want =
          of(a.values[static_cast<std::size_t>(row * columns + column)], b.values[static_cast<std::size_t>(column)]);
      static_assert(std::is_same_v<std::remove_const_t<decltype(want)>, typename Result::value_type>);
      count += block(i, j) == want ? 0 : 1;
    }
  return count;
}

template <class T>
void check_all() {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = t::whole_numbers<T>("IJ", e, 7);
      auto h = t::whole_numbers<T>("J", e, 5);
      for (T& x : h.values) x = static_cast<T>(x == T(0) ? T(3) : x);
      auto const a = t::placed<os::tensor<T, I/X, J/Y>>(m, g);
      auto const b = t::placed<os::tensor<T, J>>(m, h);
      INFO(m.text(), t::text_of(e));
      auto const check = [&](auto const& r, auto const& of) {
        static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(r)>::sharding_type,
                                     typename os::tensor<T, I/X, J/Y>::sharding_type>);
        CHECK(wrong(r, g, h, of) == 0);
      };
      check(a + b, [](T x, T y) { return static_cast<T>(x + y); });
      check(a - b, [](T x, T y) { return static_cast<T>(x - y); });
      check(a * b, [](T x, T y) { return static_cast<T>(x * y); });
      check(a / b, [](T x, T y) { return static_cast<T>(x / y); });
      check(-a, [](T x, T) { return static_cast<T>(-x); });
      check(2 * a - 1, [](T x, T) { return static_cast<T>(2 * x - 1); });
      check(7 - a, [](T x, T) { return static_cast<T>(7 - x); });
      check(a / 2, [](T x, T) { return static_cast<T>(x / T(2)); });
      check(a == b, [](T x, T y) { return x == y; });
      check(a != b, [](T x, T y) { return x != y; });
      check(a < b, [](T x, T y) { return x < y; });
      check(a <= b, [](T x, T y) { return x <= y; });
      check(a > b, [](T x, T y) { return x > y; });
      check(a >= b, [](T x, T y) { return x >= y; });
      check(a == 1, [](T x, T) { return x == T(1); });
      check(0 < a, [](T x, T) { return x > T(0); });
      check(a <= 0, [](T x, T) { return x <= T(0); });
      check(2 >= a, [](T x, T) { return x <= T(2); });
      check(a > 0 && !(a == b), [](T x, T y) { return x > T(0) && x != y; });
      check(a > 2 || b > 0, [](T x, T y) { return x > T(2) || y > T(0); });
      check(os::where(a > b, a, b), [](T x, T y) { return x > y ? x : y; });
      check(os::where(b > 0, a, 1), [](T x, T y) { return y > T(0) ? x : T(1); });
      check(os::where(a > 0, 2, a), [](T x, T) { return x > T(0) ? T(2) : x; });
      check(os::where(a > 0, 1, 0), [](T x, T) { return x > T(0) ? 1 : 0; });
      check(os::where(a > 0, 0.5, 1), [](T x, T) { return x > T(0) ? 0.5 : 1.0; });
    }
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }
TEST_CASE("int8") { check_all<std::int8_t>(); }
TEST_CASE("bfloat16") { check_all<os::bfloat16>(); }

TEST_CASE("the axes of the result") {
  using mask = os::tensor<bool, I, J>;
  using scores = os::tensor<float, B, K/X, I, J>;
  static_assert(std::is_same_v<decltype(os::where(mask(), scores(), -1)), scores>);
  static_assert(std::is_same_v<decltype(os::tensor<float, I/X>() * os::tensor<float, J/Y>()),
                               os::tensor<float, I/X, J/Y>>);
  static_assert(std::is_same_v<decltype(os::tensor<float, I/X>() < os::tensor<float, J/Y>()),
                               os::tensor<bool, I/X, J/Y>>);
}

TEST_CASE("NaN is neither equal nor less nor greater") {
  auto const mesh = os::make_mesh(X = t::ranks());
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const a = os::full<float>(mesh, nan);
  CHECK(!os::value(a == a));
  CHECK(os::value(a != a));
  CHECK(!os::value(a < 1));
  CHECK(!os::value(a >= 1));
  CHECK(os::value(os::where(a == a, a, 7)) == 7);
}

// Sums may be scaled and added as parts, "and" and "or" of bools combine as parts.
TEST_CASE("partial tensors") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto const g = t::whole_numbers<double>("IJ", e, 4);
    auto const a = t::placed<os::tensor<double, I/X, J>>(m, g);
    auto const parts = os::sum<J, os::partial(X)>(a);
    auto const twice = os::all_reduce<X>(2 * parts + parts - parts);
    auto const want = os::sum<J>(a);
    CHECK(os::value(os::bit_and<>(twice == 2 * want)));
    auto const any = os::bit_or<J, os::partial_or(X)>(a > 0);
    auto const none = t::host_block(os::all_reduce<X>(!any));
    static_assert(std::is_same_v<decltype(!any), os::tensor<bool, J, os::partial_and(X)>>);
    for (std::size_t j = 0; j < none.extent(0); ++j) {
      bool positive = false;
      for (std::int64_t i = 0; i < e.at('I'); ++i)
        positive = positive || g.values[static_cast<std::size_t>(i * e.at('J')) + j] > 0;
      CHECK(none(j) == !positive);
    }
  });
}

TEST_CASE("blocks") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto const g = t::whole_numbers<float>("IJ", e, 4);
    auto const h = t::whole_numbers<float>("J", e, 4);
    auto const a = t::placed<os::tensor<float, I/X, J/Y>>(m, g);
    auto const b = t::placed<os::tensor<float, J/Y>>(m, h);
    auto const r =
        os::shard_map<I/X, J/Y>([](auto x, auto y) { return os::where(x > y && y != 0, 2 * x + y, -y); }, a, b);
    CHECK(wrong(r, g, h, [](float x, float y) { return x > y && y != 0 ? 2 * x + y : -y; }) == 0);
  });
}
