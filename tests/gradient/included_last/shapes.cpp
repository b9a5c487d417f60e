// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of templates that stand before ostraka/gradient.hpp is included (against_loops.hpp): shapes, and rows by
/// number.
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The tests differentiate Σ of the elements of each result by x[I, J].

// Axes that are added, removed, and permuted: 8x.
struct by_shapes {
  template <class A>
  auto operator()(A const& x) const {
    auto const back = os::transpose<I, J>(os::flip<I / X>(os::transpose<J, I>(os::flip<I / X>(x))));
    auto const rolled = os::roll<J>(os::roll<J>(back, 1), -1);
    auto const padded = os::window<J>(os::pad<J>(rolled, 2, 1), 2, 5);
    auto const once = os::window<J>(os::concatenate<J>(padded, x), 0, 3);
    auto const repeated = os::sum<I / X, J>(os::broadcast<I / X, J, L>(os::take<L>(os::stack<L>(once, x), 0), L = 8));
    return os::sum<I / X, J>(
        os::split<K, J, L>(os::merge<J, L, K>(os::broadcast<I / X, J, L>(repeated, L = 1)), L = 1));
  }
  static double of(double x) { return 8 * x; }
  static double derivative(double) { return 8; }
};

// Rows by number, and back: 3x, for each number occurs once.
struct by_indices {
  template <class A>
  auto operator()(A const& x) const {
    auto const numbers = os::iota<std::int64_t, J>(x.mesh(X), J = 3);
    auto const columns = os::rename<J, L>(x);
    auto const taken = os::take<L>(columns, numbers);  // [J, I_X]
    auto const added = os::scatter_add<L, I / X, L>(taken, numbers, L = 3);
    auto const again = os::segment_sum<J, L>(os::transpose<I, J>(taken), numbers, L = 3);
    auto const written = os::write_at<L>(columns, 1, os::take<L>(columns, 1));
    return os::dropout(os::rename<L, J>(os::add(os::add(added, again), written)), 0.0, os::seed(1)) +
           os::lower_triangle<I, J>(x, os::diagonal(-100)) * 1.0;
  }
  static double of(double x) { return 3 * x; }
  static double derivative(double) { return 3; }
};

}  // namespace

#include "gradient/included_last/against_loops.hpp"

using namespace t::loops;

TEST_CASE("shapes") { check(by_shapes{}); }
TEST_CASE("indices") { check(by_indices{}); }
