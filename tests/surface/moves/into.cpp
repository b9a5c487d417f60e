// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::reshard_into and os::map_into against plain loops, on NaN where they write, in place, and in cases that they
/// must refuse.
// ranks: 1 2 4
// sham:
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

template <class T>
T spoiled(t::test_mesh const& m, t::extents_by_letter const& e) {
  T const tensor = t::placed<T>(m, t::whole_numbers<typename T::value_type>(t::letters_in<T>(), e, 99));
  Kokkos::deep_copy(tensor.local(), typename T::value_type(std::nan("")));
  return tensor;
}

template <auto... To, auto... From>
void check_reshard(t::test_mesh const& m, t::extents_by_letter const& e, dims<To...>, dims<From...>) {
  using target = os::tensor<double, To...>;
  using source = os::tensor<double, From...>;
  auto const numbers = t::whole_numbers<double>(t::letters_in<source>(), e, 7);
  auto const a = t::placed<source>(m, numbers);
  auto const b = spoiled<target>(m, e);
  auto const* const place = b.local().data();
  t::traffic const moved = t::traffic_of([&] { os::reshard_into(b, a); });
  t::traffic const as_reshard = t::traffic_of([&] { static_cast<void>(os::reshard<To...>(a)); });
  INFO(m.text(), t::text_of(e), os::describe(b));
  CHECK(t::disagreements(m, b, numbers) == 0);
  CHECK(t::disagreements(m, a, numbers) == 0);
  CHECK(b.local().data() == place);
  if (!std::is_same_v<target, source>) CHECK(moved.bytes == as_reshard.bytes);
}

// Not symmetric.
struct mix {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return 3 * a - b; }
};

struct half {
  KOKKOS_FUNCTION double operator()(double a) const { return a / 2; }
};

template <class C, class A, class B>
void check_map(t::test_mesh const& m, t::extents_by_letter const& e) {
  auto const left = t::whole_numbers<double>(t::letters_in<A>(), e, 1);
  auto const right = t::whole_numbers<double>(t::letters_in<B>(), e, 2);
  t::global_tensor<double> expected{t::letters_in<C>(), e, {}};
  t::for_each_index(expected.labels, e, [&](t::extents_by_letter const& at) {
    expected.values.push_back(mix()(left.values[left.position(at)], right.values[right.position(at)]));
  });
  auto const c = spoiled<C>(m, e);
  t::traffic const moved =
      t::traffic_of([&] { os::map_into(c, mix(), t::placed<A>(m, left), t::placed<B>(m, right)); });
  INFO(m.text(), t::text_of(e), os::describe(c));
  CHECK(t::disagreements(m, c, expected) == 0);
  CHECK(moved.calls == 0);
}

template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (os::error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("reshard_into") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check_reshard(m, e, dims<I, J>{}, dims<I/X, J>{});
      check_reshard(m, e, dims<I, J/X>{}, dims<I/X, J>{});
      check_reshard(m, e, dims<I/X, J/Y>{}, dims<I, J>{});
      check_reshard(m, e, dims<I/X, J>{}, dims<I/X, J>{});
      check_reshard(m, e, dims<I/Y, J/X>{}, dims<I/X, J/Y>{});
    }
  });
}

TEST_CASE("map_into") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check_map<os::tensor<double, I/X, J>, os::tensor<double, I/X, J>, os::tensor<double, J>>(m, e);
      check_map<os::tensor<double, J, I/X>, os::tensor<double, I/X, J>, os::tensor<double, J>>(
          m, e);  // in the order of the result
      check_map<os::tensor<double, I/X, J/Y>, os::tensor<double, I, J>, os::tensor<double, I/X, J>>(m, e);  // slices
      check_map<os::tensor<double, K, I, J>, os::tensor<double, J>, os::tensor<double, I>>(m, e);  // repeated along K
    }
  });
}

TEST_CASE("in place") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = t::usual_extents()[1];
    using matrix = os::tensor<double, I/X, J>;
    auto numbers = t::whole_numbers<double>("IJ", e, 3);
    auto const a = t::placed<matrix>(m, numbers);
    os::map_into(a, half(), a);
    for (double& v : numbers.values) v /= 2;
    CHECK(t::disagreements(m, a, numbers) == 0);
    os::map_into(a, mix(), a, a);
    for (double& v : numbers.values) v = 3 * v - v;
    CHECK(t::disagreements(m, a, numbers) == 0);
  });
}

TEST_CASE("memory that is written while others are read from it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 6}, {'J', 6}, {'K', 4}, {'L', 2}};
    auto const numbers = t::whole_numbers<double>("IJ", e, 3);
    auto const a = t::placed<os::tensor<double, I, J>>(m, numbers);
    os::tensor<double, J, I> const crossed(a.mesh_handle(), {6, 6}, a.local());
    CHECK(refusal([&] { os::reshard_into(a, a); }) ==
          "reshard_into: the result is written while the operands are read, but it shares memory with one of them; use "
          "os::reshard, or another tensor for the result");
    CHECK(refusal([&] { os::map_into(a, half(), crossed); }) ==
          "map_into: the result may be one of the operands under the same axes and sharding, but it shares memory with "
          "one under others; use os::map, or another tensor for the result");
    auto const shorter = t::placed<os::tensor<double, I/X, J>>(
        m, t::whole_numbers<double>("IJ", {{'B', 4}, {'I', 6}, {'J', 5}, {'K', 4}, {'L', 2}}, 3));
    CHECK(refusal([&] {
            os::reshard_into(shorter, a);
          }).find("all operands agree on the extent of an axis, but J is 6 in one and 5 in another") !=
          std::string::npos);
    CHECK(t::disagreements(m, a, numbers) == 0);
  });
}

TEST_CASE("a limit of workspace where there is nothing to move") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = t::usual_extents()[0];
    using matrix = os::tensor<double, I/X, J>;
    auto const numbers = t::whole_numbers<double>("IJ", e, 3);
    auto const a = t::placed<matrix>(m, numbers);
    auto const b = spoiled<matrix>(m, e);
    os::reshard_into(b, a, os::within(0));
    CHECK(t::disagreements(m, b, numbers) == 0);
  });
}
