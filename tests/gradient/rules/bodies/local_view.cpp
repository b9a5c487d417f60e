// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives through bodies of os::shard_map: the doors, and the kinds of variables along a mesh axis.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <array>
#include <tuple>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("doors: divided, replicated, and results of each kind") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {t::extents_by_letter{{'I', 4}, {'J', 3}}, {{'I', 5}, {'J', 3}}}) {
      INFO(m.text(), t::text_of(e));
      auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 3));
      t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {  // divided
        auto const y = os::shard_map<I/X, J>([](auto a, auto b) { return os::multiply(os::multiply(a, a), b); },
                                             os::in<I/X, J>(p), w);
        return os::sum<>(os::multiply(y, p));
      });
      t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {  // replicated, two uses
        auto const y = os::shard_map<I/X, J>(
            [](auto a, auto b) { return os::add(os::multiply(b, a), os::multiply(b, os::multiply(a, a))); }, p, w);
        return os::sum<>(os::multiply(y, w));
      });
      t::check_by_differences<os::tensor<double, J/Y>>(m, e, "J", [&](auto const& p) {  // summed in the body, over two
        auto const y = os::shard_map<J>(
            [](auto a, auto b) {
              auto const whole = os::all_gather<J/Y>(a);
              return os::psum<X>(os::einsum<J>(os::multiply(b, whole), os::multiply(whole, whole), os::sum_over(I)));
            },
            p, w);
        return os::sum<>(os::multiply(y, y));
      });
      t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {  // it never varies
        auto const y = os::shard_map<os::manual(X), J>([](auto a) { return os::multiply(a, os::add(a, a)); }, p);
        auto const z = os::shard_map<os::manual(X), J, os::partial(X)>(
            [](auto a) { return os::pvary<X>(os::multiply(a, a)); }, p);
        return os::sum<>(os::multiply(y, os::reshard<J>(z)));
      });
    }
  });
}

TEST_CASE("a variable that a body captures is invariant") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 4}, {'J', 3}};
    INFO(m.text());
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 3));
    t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {
      auto const y = os::shard_map<I/X, J>([&](auto b) { return os::multiply(b, os::multiply(p, p)); }, w);
      auto const z = os::shard_map<J>([&](auto b) { return os::psum<X>(os::einsum<J>(os::add(p, b))); }, w);
      return os::add(os::sum<>(os::multiply(y, p)), os::sum<>(os::multiply(z, p)));
    });
  });
}

TEST_CASE("bodies in bodies, results of several, operands in arrays") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 2 * m.size("Y")}};
    INFO(m.text());
    auto const w = t::placed<os::tensor<double, I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 3));
    t::check_by_differences<os::tensor<double, J/Y>>(m, e, "J", [&](auto const& p) {
      auto const [y, z] = os::shard_map<os::manual(X), os::dims<I/X, J/Y>{}, os::dims<J/Y>{}>(
          [](auto a, auto b) {
            auto const inner = os::shard_map<J/Y>(  // b varies along X, and a is replicated along it
                [](auto v, auto x) { return os::multiply(os::multiply(v, v), os::psum<Y>(os::einsum<>(x, x, v))); },
                a, b);
            return std::tuple{os::multiply(b, inner), os::psum<X>(os::multiply(inner, a))};
          },
          p, w);
      return os::sum<>(os::multiply(y, y)) + os::sum<>(z);
    });
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      auto const y = os::shard_map<J/Y>(
          [](auto const& both) {
            return os::psum<X>(os::sum<J>(os::multiply(os::multiply(both[0], both[1]), both[1])));
          },
          std::array{p, os::multiply(p, w)});
      return os::sum<>(os::multiply(y, y));
    });
  });
}

TEST_CASE("regions of a body that are computed again, and derivatives of the program's own") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 4}, {'J', 3}};
    INFO(m.text());
    auto const w = os::scale(t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 3)), 0.1);
    auto const twice = os::custom_vjp([](auto const& a, auto const& b) { return os::multiply(a, b); },
                                      [](auto const& g, auto const&, auto const& a, auto const& b) {
                                        return std::tuple(os::multiply(g, b), os::multiply(g, a));
                                      });
    t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {
      auto const y = os::shard_map<J>(
          [&](auto a, auto b) {
            auto const again = os::checkpoint([](auto const& c, auto const& d) {
              return os::psum<X>(os::einsum<J>(os::multiply(d, c), d, c));
            });
            auto const but = os::checkpoint(
                [](auto const& c, auto const& d) {
                  return os::sum<J>(os::multiply(os::all_gather<I/X>(os::multiply(d, c)), c));
                },
                os::save_all_but_gathers);
            return os::multiply(again(again(a, b), b), but(a, twice(b, b)));
          },
          p, w);
      return os::sum<>(y);
    });
  });
}

TEST_CASE("the derivative of a derivative, through a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    INFO(m.text());
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 3));
    auto const loss = [&](auto const& p, auto const& data) {
      auto const y = os::shard_map<J>(
          [](auto a, auto b) {
            auto const gathered = os::all_gather<I/X>(os::multiply(b, a));
            return os::multiply(os::psum<X>(os::einsum<J>(os::multiply(b, a), a, os::sum_over(I))),
                                os::sum<J>(os::multiply(gathered, gathered)));
          },
          p, data);
      return os::sum<>(y);
    };
    t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {
      auto const r = os::value_and_grad(loss)(p, w);
      return os::sum<>(os::multiply(r.gradient, p));
    });
  });
}

TEST_CASE("the classical trap: a loss that is reduced in the body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") < 2) return;
    t::extents_by_letter const e{{'I', m.size("X")}};
    t::global_tensor<double> d = t::whole_numbers<double>("I", e, 1), one{"", {}, {1}};
    for (std::size_t i = 0; i < d.values.size(); ++i) d.values[i] = i == 1 ? 1 : 0;
    auto const data = t::placed<os::tensor<double, I/X>>(m, d);
    auto const w = t::placed<os::tensor<double>>(m, one);
    auto const loss = [](auto const& p, auto const& x) {
      return os::shard_map<>([](auto v, auto b) { return os::psum<X>(os::sum<>(os::multiply(v * v + 1.0, b))); }, p, x);
    };
    auto const r = os::value_and_grad(loss)(w, data);
    CHECK(os::value(r.value) == 2);
    CHECK(os::value(r.gradient) == 2);
  });
}
