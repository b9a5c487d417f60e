// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of os::contract, os::copy and os::named, by differences of the plain program; zeros like a variable are
/// constants.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>

#include <cstdint>
#include <type_traits>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using weight = os::tensor<double, I, J/Y>;
using batch = os::tensor<double, B/X, I>;

constexpr auto of_product = [](auto const& w, auto const& x) {
  auto const y = os::contract<I>(x, w);  // [B_X, J_Y]
  return os::sum<>(y * y * y);
};

constexpr auto of_copy = [](auto const& w) {
  auto const c = os::copy(os::reshard<I, J>(w * w));
  return os::sum<>(os::named("c", c) * c);
};

constexpr auto of_zeros = [](auto const& w) { return os::sum<>(w * w + os::zeros_like(w * w)); };

// The cotangent of a tensor in another order of axes is resharded back; a product behind it is asked for it directly.
constexpr auto of_reordered = [](auto const& w) {
  auto const turned = os::reshard<J/Y, I>(w * w);
  auto const there = os::reshard<J, I/X>(turned);
  return os::sum<>(there * there);
};

// A product that moves nothing in the forward sums the weight's cotangents over the devices that have rows of the
// batch.
constexpr auto plan = os::gradient_plan<weight, batch>(of_product);
static_assert(plan.forward.count(os::step::all_gather) == 0);
static_assert(plan.backward.count(os::step::all_gather) == 0);
static_assert(plan.backward.count(os::step::all_reduce) == 1);
static_assert(plan.unpriced() == 0);

// The backward of a gather is a reduce-scatter, also behind a named copy.
constexpr auto copied = os::gradient_plan<weight>(of_copy);
static_assert(copied.forward.count(os::step::all_gather) == 1);
static_assert(copied.backward.count(os::step::all_gather) == 0);
static_assert(copied.unpriced() == 0);

constexpr auto reordered = os::gradient_plan<weight>(of_reordered);
static_assert(reordered.forward.count(os::step::all_gather) == 1);
static_assert(reordered.unpriced() == 0);

}  // namespace

TEST_CASE("os::contract of variables and constants, and its derivative's derivative") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text() << " " << t::text_of(e));
      auto const x = t::placed<batch>(m, t::whole_numbers<double>("BI", e, 3));
      auto const v = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
      t::check_by_differences<weight>(m, e, "IJ", [&](auto const& w) { return of_product(w, x); });
      t::check_by_differences<batch>(m, e, "BI", [&](auto const& p) { return of_product(v, p); });
      t::check_by_differences<weight>(m, e, "IJ", [&](auto const& w) {
        auto const inner = os::value_and_grad(of_product)(w, x);
        return os::sum<>(inner.gradient * v) + inner.value;
      });
    }
  });
}

TEST_CASE("os::reshard of variables to another order of axes, and its derivative's derivative") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text() << " " << t::text_of(e));
      auto const p = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
      t::check_by_differences<weight>(m, e, "IJ", of_reordered);
      t::check_by_differences<weight>(m, e, "IJ", [&](auto const& w) {
        auto const inner = os::value_and_grad(of_reordered)(w);
        return os::sum<>(inner.gradient * p) + inner.value;
      });
      auto const x = t::placed<batch>(m, t::whole_numbers<double>("BI", e, 3));
      t::check_by_differences<weight>(m, e, "IJ", [&](auto const& w) {
        auto const y = os::einsum<J, B/X>(os::reshard<J, I>(w), x);
        return os::sum<>(y * y);
      });
      os::sizes<B_axis, I_axis, J_axis, K_axis, L_axis> const sizes = t::named(e);
      t::traffic const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(of_reordered)(p)); });
      CHECK(moved.bytes == reordered.total_bytes(sizes, m.sizes()));
    }
  });
}

TEST_CASE("os::copy and os::named of variables") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 5}};
    INFO(m.text());
    t::check_by_differences<weight>(m, e, "IJ", of_copy);
    t::check_by_differences<weight>(m, e, "IJ", [](auto const& w) {
      auto const inner = os::value_and_grad(of_copy)(w);
      return os::sum<>(inner.gradient * inner.gradient);
    });
    t::check_by_differences<weight>(m, e, "IJ", of_zeros);
    auto const w = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
    os::value_and_grad([&](auto const& p) {
      auto const c = os::named("weights", os::copy(p));
      CHECK(c.value().label() == "weights");
      CHECK((c.value().local().size() == 0 || c.value().local().data() != w.local().data()));
      return os::sum<>(c);
    })(w);
  });
}
