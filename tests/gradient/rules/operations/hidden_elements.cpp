// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Elements that an operation ignores have no part in its result or in any derivative, even if they are NaN: if a
/// condition chooses the other one, a dropout drops them, a label is ignored, a triangle or a table's row is not asked
/// for, a segment has none of them. Values by hand, or plain loops.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

template <class Tensor, class F>
void check(t::test_mesh const& m, char const* what, t::global_tensor<double> const& given, double value,
           t::global_tensor<double> const& gradient, F const& f) {
  INFO(m.text(), what);
  auto const r = os::value_and_grad(f)(t::placed<Tensor>(m, given));
  CHECK(std::abs(os::value(r.value) - value) <= 1e-12);
  CHECK(t::disagreements(m, r.gradient, gradient,
                         [](double got, double want) { return std::abs(got - want) <= 1e-12; }) == 0);
}

}  // namespace

TEST_CASE("elements that are not looked at may be NaN") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    using block = os::tensor<double, I / X, J / Y>;
    t::global_tensor<double> const x{"IJ", e, {1, no_number, 3, 4, no_number, 6}};
    t::global_tensor<double> const seen{"IJ", e, {1, 0, 1, 1, 0, 1}};
    auto const condition = t::placed<block>(m, seen) != 0;
    check<block>(m, "where", x, 14, seen, [&](auto const& p) { return os::sum<>(os::where(condition, p, 0.0)); });
    check<block>(m, "where not", x, 14, seen, [&](auto const& p) { return os::sum<>(os::where(!condition, 0.0, p)); });

    // The mean of the elements that are not hidden.
    t::global_tensor<double> quarters = seen;
    for (double& v : quarters.values) v /= 4;
    check<block>(m, "mean", x, 3.5, quarters,
                 [&](auto const& p) { return os::scale(os::sum<>(os::where(condition, p, 0.0)), 0.25); });

    // The lower triangle of rows and columns.
    t::global_tensor<double> const upper{"IJ", e, {1, no_number, 3, 4, 5, 6}}, lower{"IJ", e, {1, 0, 1, 1, 1, 1}};
    check<block>(m, "triangle", upper, 19, lower,
                 [&](auto const& p) { return os::sum<>(os::lower_triangle<I / X, J / Y>(p)); });

    // A row whose label is ignored.
    double const a = 1 / (1 + std::exp(1.0)), b = 1 - a;
    t::global_tensor<double> const logits{"IJ", e, {0, 1, no_number, no_number, 1, 0}};
    t::global_tensor<double> const pulled{"IJ", e, {-b, b, 0, 0, -a, a}};
    auto const labels = t::placed<os::tensor<std::int32_t, I / X>>(m, {"I", e, {0, -100, 0}});
    check<block>(m, "cross entropy", logits, -std::log(a) - std::log(b), pulled,
                 [&](auto const& p) { return os::sum<>(os::cross_entropy<J / Y>(p, labels, os::ignore(-100))); });

    // A row of a table that nothing refers to; rows of another segment.
    t::global_tensor<double> const table{"IJ", e, {1, 2, no_number, no_number, 5, 6}};
    t::global_tensor<double> const asked{"IJ", e, {1, 1, 0, 0, 2, 2}};
    auto const index = t::placed<os::tensor<std::int32_t, K>>(m, {"K", {{'K', 3}}, {2, 0, 2}});
    check<block>(m, "look-up", table, 25, asked,
                 [&](auto const& p) { return os::sum<>(os::take<I, K, J / Y>(p, index)); });
    auto const ids = t::placed<os::tensor<std::int32_t, I / X>>(m, {"I", e, {0, 1, 0}});
    t::global_tensor<double> const of_segment{"IJ", e, {1, 1, 0, 0, 1, 1}};
    check<block>(m, "segments", table, 14, of_segment, [&](auto const& p) {
      auto const sums = os::segment_sum<I, L, L, J / Y>(p, ids, L = 2);
      return os::sum<>(os::take<L>(sums, 0));
    });
  });
}

TEST_CASE("what a dropout drops may be NaN") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const ones = os::full<double, I / X, J / Y>(os::mesh<X_mesh, Y_mesh, Z_mesh>(m.handle()), I = 4, J = 5, 1.0);
    auto const kept = os::dropout(ones, 0.5, os::seed(3));
    auto const x = os::where(kept != 0, ones, no_number);
    auto const r = os::value_and_grad([](auto const& p) { return os::sum<>(os::dropout(p, 0.5, os::seed(3))); })(x);
    INFO(m.text());
    CHECK(os::value(r.value) == os::value(os::sum<>(kept)));
    CHECK(os::value(os::count<>(r.gradient != kept)) == 0);
  });
}
