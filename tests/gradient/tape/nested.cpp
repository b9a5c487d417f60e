// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Second derivatives: gradients of programs that take gradients, against differences of first ones.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Σ (x w)³ of a gathered w, with a division.
constexpr auto loss = [](auto const& w, auto const& x) {
  auto const h = os::einsum<B/X, J>(x, os::reshard<I, J>(w));
  return os::sum<>(h * h * h / (h * h + 1.0));
};

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> w;
  os::leaf<L, double, J> b;
};

}  // namespace

TEST_CASE("the Hessian times a vector, of a gathered weight") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const v = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", e, 3));
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& w) {
      auto const first = os::value_and_grad(loss)(w, x);
      return os::sum<>(first.gradient * v) + first.value;
    });
  });
}

TEST_CASE("an outer variable as a constant of the inner program; regions and derivatives of one's own") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const square = os::custom_vjp([](auto const& a) { return a * a; },
                                       [](auto const& g, auto const&, auto const& a) { return 2.0 * g * a; });
    auto const inner = os::value_and_grad([&](auto const& a, auto const& b) {
      auto const region = os::checkpoint([&](auto const& c, auto const& d) { return square(c) * d * d; });
      return os::sum<>(os::reshard<I, J>(region(a, b)));
    });
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& outer) {
      auto const r = inner(w, outer);  // ∂/∂w Σ w² outer²
      return os::sum<>(r.gradient * outer) + 0.5 * r.value;
    });
  });
}

TEST_CASE("trees of parameters: a penalty on the gradient") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", e, 3));
    auto const b = t::placed<os::tensor<double, J>>(m, t::whole_numbers<double>("J", e, 4));
    auto const of_layer = [](auto const& p, auto const& data) {
      auto const h = os::einsum<B/X, J>(data, os::reshard<I, J>(p.w)) + p.b;
      return os::sum<>(h * h * h);
    };
    auto const penalty = [&](auto const& p) {
      auto const g = os::value_and_grad(of_layer)(p, x).gradient;
      return os::sum<>(g.w * g.w) + os::sum<>(g.b * g.b);
    };
    t::global_tensor<double> g = t::whole_numbers<double>("IJ", e, 9);
    for (double& v : g.values) v *= 0.1;
    auto const at = [&](auto const& w) { return layer<os::values>{w, b}; };
    auto const r = os::value_and_grad(penalty)(at(t::placed<os::tensor<double, I/X, J>>(m, g)));
    auto const slopes = t::slopes<os::tensor<double, I/X, J>>([&](auto const& w) { return penalty(at(w)); }, m, g);
    CHECK(t::disagreements(m, r.gradient.w, slopes, [](double got, double want) {
            return std::abs(got - want) <= 1e-6 * (1 + std::abs(want));
          }) == 0);
  });
}

TEST_CASE("extremes of blocks") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const body = [](auto const& a) {
      return a * os::pmax<Y>(os::max<I>(a)) + a * os::pmin<X>(os::sum<J>(a));
    };
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    auto const apart = os::uniform<double, I/X, J/Y>(mesh, I = 3, J = 5);  // no two are equal
    auto const inner = os::value_and_grad([&](auto const& a) {
      auto const y = os::shard_map<I/X, J/Y>(body, 0.5 * a + apart);
      return os::sum<>(y * y * y);
    });
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& w) {
      auto const g = inner(w).gradient;
      return os::sum<>(os::tanh(1e-3 * g) * w);
    });
  });
}
