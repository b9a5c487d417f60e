// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::reshard beyond reshard_pairs.cpp: three mesh axes and three axes, all element types, empty tensors, scalars, and
/// names that are words. [B_X, I_Y, J_Z] → [B_Z, I_X, J_Y]
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstdint>

#include "support/on_meshes.hpp"

OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(model);

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

template <class T, auto... DimsFrom, auto... DimsTo>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<DimsFrom...>, dims<DimsTo...>) {
  using from = os::tensor<T, DimsFrom...>;
  using to = os::tensor<T, DimsTo...>;
  auto const whole = t::whole_numbers<typename from::value_type>(t::letters_in<from>(), e, 10);
  auto const there = os::reshard<DimsTo...>(t::placed<from>(m, whole));
  auto const back = os::reshard<DimsFrom...>(there);
  static_assert(std::is_same_v<std::remove_const_t<decltype(there)>, to>);
  INFO(m.text(), t::text_of(e), os::describe(back), " to ", os::describe(there));
  CHECK(t::disagreements(m, there, whole) == 0);
  CHECK(t::disagreements(m, back, whole) == 0);
}

template <class T>
void check_all() {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<T>(m, e, dims<B/X, I/Y, J/Z>{}, dims<B/Z, I/X, J/Y>{});
      check<T>(m, e, dims<I/X/Y/Z>{}, dims<I/Z/Y/X>{});
      check<T>(m, e, dims<I/X/Y, J>{}, dims<I/Y, J/X>{});
      check<T>(m, e, dims<B/X, I, K, partial(Y)>{}, dims<B, I/Y, K/X>{});
    }
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("complex<float>") { check_all<Kokkos::complex<float>>(); }
TEST_CASE("complex<double>") { check_all<std::complex<double>>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }
TEST_CASE("int64") { check_all<std::int64_t>(); }

TEST_CASE("three mesh axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<double>(m, e, dims<I/X, J/Y/Z>{}, dims<I/Z, J/X/Y>{});
      check<double>(m, e, dims<I/X/Y/Z, J>{}, dims<I, J/X/Y/Z>{});
      check<double>(m, e, dims<I/X/Y/Z, J>{}, dims<I/Y, J>{});
      check<double>(m, e, dims<I/X/Y/Z, J>{}, dims<I/X/Z, J>{});
      check<double>(m, e, dims<I, J/Z, partial(X, Y)>{}, dims<I/Y, J/X>{});
      check<double>(m, e, dims<I/X, J, partial(Y)>{}, dims<I/Z, J, partial(X)>{});
      check<double>(m, e, dims<B, I, J, K, L>{}, dims<B/X, I, J/Y, K, L/Z>{});
      check<double>(m, e, dims<B/X, I, J/Y, K, L/Z>{}, dims<B, I/Y, J/X, K/Z, L>{});
    }
  });
}

TEST_CASE("a scalar") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<double>(m, {}, dims<partial(X)>{}, dims<>{});
    check<double>(m, {}, dims<partial(X, Y)>{}, dims<partial(Y)>{});
    check<std::int64_t>(m, {}, dims<>{}, dims<partial(Z)>{});
  });
}

TEST_CASE("a source that nobody holds elsewhere is left as it was") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const whole = t::whole_numbers<float>("IJ", t::usual_extents()[1], 11);
    auto const summands = t::placed<os::tensor<float, I, J, partial(X)>>(m, whole);
    auto const sum = os::reshard<I/X, J>(summands);
    auto const again = os::reshard<I, J>(summands);
    CHECK(t::disagreements(m, summands, whole) == 0);
    CHECK(t::disagreements(m, sum, whole) == 0);
    CHECK(t::disagreements(m, again, whole) == 0);
  });
}

TEST_CASE("axes whose names are words") {
  auto const mesh = os::make_mesh(model = t::ranks());
  auto const a = os::generate<std::int32_t, hidden/model>(
      mesh, hidden = 11, KOKKOS_LAMBDA(std::int64_t i) { return static_cast<std::int32_t>(i * i); });
  auto const b = os::reshard<hidden>(a);
  auto const block = os::engine::on_host(b.local());
  REQUIRE(block.extent(0) == 11);
  for (std::size_t i = 0; i < 11; ++i) CHECK(block(i) == static_cast<std::int32_t>(i * i));
}
