// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::defer_over: one reduction of a cotangent that several products add to. A gather that a region repeats is behind
/// it, too.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using input = os::tensor<double, B, I>;
using weight = os::tensor<double, I, J/X>;

// Three products of one operand with a weight that X divides.
template <bool Defers>
struct three_products {
  template <class P, class W>
  constexpr auto operator()(P const& p, W const& w) const {
    return of(p, w);
  }

 private:
  template <class P, class W>
  static constexpr auto of(P const& p, W const& w) {
    auto const h = p * p;
    if constexpr (Defers)
      return of_products(os::defer_over<X>(h), w);
    else
      return of_products(h, w);
  }
  template <class H, class W>
  static constexpr auto of_products(H const& h, W const& w) {
    auto const q = os::einsum<B, J/X>(h, w);
    auto const k = os::einsum<B, J/X>(h, os::scale(w, 2.0));
    auto const v = os::einsum<B, J/X>(h, os::scale(w, 3.0));
    return os::sum<>(q * k + v);
  }
};

constexpr auto each = os::gradient_plan<input, weight>(three_products<false>{});
constexpr auto once = os::gradient_plan<input, weight>(three_products<true>{});
static_assert(each.backward.count(os::step::all_reduce) == 3);
static_assert(once.backward.count(os::step::all_reduce) == 1);

// A weight that is gathered, and used twice.
using stored = os::tensor<double, I/X, J>;
using batch = os::tensor<double, B/X, I>;

struct used_twice {
  template <class P, class T>
  constexpr auto operator()(P const& p, T const& x) const {
    return os::checkpoint(of, os::save_all_but_gathers)(p, x);
  }

  static constexpr auto of = [](auto const& p, auto const& x) {
    auto const w = os::defer_over<X>(os::reshard<I, J>(p));
    auto const y = os::einsum<B/X, I>(os::einsum<B/X, J>(x, w), w);
    return os::sum<>(y * y);
  };
};

constexpr auto gathers = os::gradient_plan<stored, batch>(used_twice{});
static_assert(gathers.forward.count(os::step::all_gather) == 1);
static_assert(gathers.backward.count(os::step::all_gather) == 1);
static_assert(gathers.backward.count(os::step::reduce_scatter) == 1);

}  // namespace

TEST_CASE("one reduction for three products, and the same gradient") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 3}, {'I', 4}, {'J', 5}};
    INFO(m.text());
    auto const w = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
    t::check_by_differences<input>(m, e, "BI", [&](auto const& p) { return three_products<true>{}(p, w); });
    auto const p = t::placed<input>(m, t::whole_numbers<double>("BI", e, 3));
    auto const moved = t::traffic_of([&] { (void)os::value_and_grad(three_products<true>{})(p, w); });
    CHECK(moved.bytes == once.total_bytes(B = 3, I = 4, J = 5, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z")));
  });
}

TEST_CASE("a gathered weight is gathered again, and its gradient reduce-scattered once") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 4}, {'J', 5}};
    INFO(m.text());
    auto const x = t::placed<batch>(m, t::whole_numbers<double>("BI", e, 2));
    t::check_by_differences<stored>(m, e, "IJ", [&](auto const& p) { return used_twice{}(os::scale(p, 0.1), x); });
    auto const p = t::placed<stored>(m, t::whole_numbers<double>("IJ", e, 3));
    auto const moved = t::traffic_of([&] { (void)os::value_and_grad(used_twice{})(p, x); });
    CHECK(moved.bytes == gathers.total_bytes(B = 4, I = 4, J = 5, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z")));
  });
}
