// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of operations of the vocabulary, of os::custom_vjp and of os::checkpoint, by differences of the plain
/// program.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <string>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("softmax") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const weigh = t::placed<os::tensor<double, I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 2));
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      return os::sum<>(os::multiply(os::softmax<J/Y>(p), weigh));
    });
  });
}

TEST_CASE("a derivative of one's own, and one that is computed again") {
  t::on_every_mesh([](t::test_mesh const& m) {
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
  t::on_every_mesh([](t::test_mesh const& m) {
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

TEST_CASE("an error of a backward names the operation of the forward") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}}, other{{'I', 5}, {'J', 4}};
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const v = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", other, 2));
    auto const wrong = os::custom_vjp([](auto const& a) { return os::scale(a, 2); },
                                      [&](auto const&, auto const&, auto const&) { return v; });
    auto const loss = [&](auto const& p) { return os::sum<>(wrong(p) + p); };
    try {
      static_cast<void>(os::value_and_grad(loss)(w));
      FAIL("accepted");
    } catch (os::error const& error) {
      CHECK(std::string(error.what()).find("the backward of custom_vjp: ") == 0);
    }
  });
}

TEST_CASE("variables of a call that has ended are refused, constants are not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    using stored = os::tensor<double, I/X, J>;
    auto const w = t::placed<stored>(m, t::whole_numbers<double>("IJ", e, 2));
    os::variable<stored> kept;
    auto const first = os::value_and_grad([&](auto const& p) {
      kept = p * p;
      return os::sum<>(kept);
    });
    static_cast<void>(first(w));
    auto const second = os::value_and_grad([&](auto const& p) { return os::sum<>(p * kept); });
    CHECK_THROWS_AS(static_cast<void>(second(w)), os::error);
    CHECK_THROWS_AS(static_cast<void>(kept * kept), os::error);
    CHECK_THROWS_AS(static_cast<void>(os::reshard<I, J>(kept)), os::error);

    auto const constant = os::value_and_grad([&](auto const& p) {  // a loop that did not run
      os::variable<os::tensor<double>> total = os::sum<>(w);
      if (p.extents()[0] < 0) total = os::sum<>(p);
      return total;
    })(w);
    CHECK(os::value(os::sum<>(os::multiply(constant.gradient, constant.gradient))) == 0);
  });
}

TEST_CASE("a derivative of one's own may give the operand itself, and must give its extents") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}}, other{{'I', 3}, {'J', 7}};
    using whole_tensor = os::tensor<double, I, J>;
    t::program_array<double> const memory(12, 10.0);
    using view = whole_tensor::view_type;
    whole_tensor const p(m.handle(), {3, 4}, view(memory.data(), 3, 4));  // of memory that is not counted
    auto const gives_operand = os::custom_vjp([](auto const& a) { return a; },
                                              [](auto const&, auto const&, auto const& a) { return a; });
    auto const r =
        os::value_and_grad([&](auto const& q) { return os::sum<>(gives_operand(q) + os::scale(q, 2.0)); })(p);
    memory.fetch();
    CHECK(memory[0] == 10.0);  // nothing was added to the parameter
    static_cast<void>(r);

    auto const v = t::placed<whole_tensor>(m, t::whole_numbers<double>("IJ", other, 2));
    auto const w = t::placed<whole_tensor>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const gives_other = os::custom_vjp([](auto const& a) { return os::scale(a, 2.0); },
                                            [&](auto const&, auto const&, auto const&) { return v; });
    auto const loss = [&](auto const& q) { return os::sum<>(gives_other(q)); };
    CHECK_THROWS_AS(static_cast<void>(os::value_and_grad(loss)(w)), os::error);
  });
}
