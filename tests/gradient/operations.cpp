// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of operations of the vocabulary, of os::custom_vjp and of os::checkpoint, by differences of the plain
/// program.
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("softmax") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const weigh = t::placed<os::tensor<double, I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 2));
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      return os::sum<>(os::multiply(os::softmax<J/Y>(p), weigh));
    });
  });
}

TEST_CASE("a derivative of one's own, and one that is computed again") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const twice = os::custom_vjp([](auto const& a, auto const& b) { return os::multiply(a, b); },
                                      [](auto const& g, auto const&, auto const& a, auto const& b) {
                                        return std::tuple(os::multiply(g, b), os::multiply(g, a));
                                      });
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      return os::sum<>(twice(p, os::scale(p, 0.5)));
    });
    auto const layer = os::checkpoint([](auto const& a, auto const& b) {
      return os::multiply(os::add(a, b), os::multiply(a, a));
    });
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      return os::sum<>(layer(layer(p, p), os::reshard<I/X, J>(p)));
    });
  });
}

TEST_CASE("a checkpointed layer that ends in a move; variables of two derivatives do not meet") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const layer = os::checkpoint([](auto const& a) { return os::reshard<I, J>(os::multiply(a, a)); });
    t::check_by_differences<os::tensor<double, I / X, J>>(m, e, "IJ",
                                                          [&](auto const& p) { return os::sum<>(layer(layer(p))); });
    auto const w = t::placed<os::tensor<double, I / X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const nested = [&](auto const& outer) {
      auto const inner = os::value_and_grad([&](auto const& v) { return os::sum<>(os::multiply(outer, v)); })(w);
      return os::sum<>(os::multiply(outer, inner.gradient));
    };
    CHECK_THROWS_AS(static_cast<void>(os::value_and_grad(nested)(w)), os::error);
  });
}
