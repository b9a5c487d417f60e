// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The sum of the cotangents of one variable: in place if no other handle holds the first, else in a new tensor; they
/// have the variable's extents.
// ranks: 1 2
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include "support/axes.hpp"
#include "support/mpi_main.hpp"

namespace os = ostraka;

namespace {

using vector = os::tensor<double, I/X>;

bool all_are(vector const& v, double expected) {
  auto const block = os::engine::on_host(v.local());
  for (std::size_t i = 0; i < block.extent(0); ++i)
    if (block(i) != expected) return false;
  return true;
}

// x; it gives its cotangent with twice as many elements.
template <class Mesh>
auto with_a_wrong_derivative(Mesh const& mesh) {
  return os::custom_vjp([](auto const& x) { return os::copy(x); },
                        [mesh](auto const&, auto const&, vector const& x) {
                          return os::zeros<double, I/X>(mesh, I = 2 * x.extent(I));
                        });
}

}  // namespace

TEST_CASE("a cotangent that several variables share is not written to") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  auto const x = os::full<double, I/X>(mesh, I = 7, 3.);
  auto const step = os::value_and_grad([](auto const& v) {
    auto const a = os::add(v, v);        // passes the same cotangent on twice
    auto const b = os::add(a, v);        // and to a and v
    auto const c = os::scale(b, 2);      // 2 · 3 v
    auto const d = os::add(os::add(c, v), os::add(b, a));
    return os::sum<>(d);                 // 6 v + v + 3 v + 2 v
  });
  for (int again = 0; again < 2; ++again) {
    auto const r = step(x);
    CHECK(os::value(r.value) == 7 * 12 * 3);
    CHECK(all_are(r.gradient, 12));
    CHECK(all_are(x, 3));
  }
}

TEST_CASE("cotangents of one variable have its extents") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  auto const x = os::full<double, I/X>(mesh, I = 4, 3.);
  auto const wrong = with_a_wrong_derivative(mesh);
  CHECK_THROWS_WITH_AS(
      os::value_and_grad([&](auto const& v) { return os::sum<>(os::multiply(wrong(v), v)); })(x),
      doctest::Contains("the cotangents of one variable have its extents"), os::error);
}
