// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::checkpoint under each policy: the same bits, and the computations and gathers that are repeated.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> up;
  os::leaf<L, double, J/X, I> down;
};

template <class L>
struct network {
  std::vector<layer<L>> layers;
};

// The number of runs of each of its two products.
struct runs {
  int up = 0, down = 0;
};

auto counted(int& n) {
  return os::custom_vjp(
      [&n](auto const& a) {
        ++n;
        return a * a;
      },
      [](auto const& g, auto const&, auto const& a) { return 2.0 * g * a; });
}

template <class T>
bool same(T const& a, T const& b) {
  auto const d = os::subtract(a, b);
  return os::value(os::sum<>(os::multiply(d, d))) == 0;
}

}  // namespace

TEST_CASE("regions: the same bits, and what they do again") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 5}, {'J', 6}};
    INFO(m.text());
    auto const up = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const down = t::placed<os::tensor<double, J/X, I>>(m, t::whole_numbers<double>("JI", e, 3));
    network<os::values> p;
    for (int i = 0; i < 3; ++i) p.layers.push_back({os::scale(up, 0.1 + 0.01 * i), os::scale(down, 0.1)});
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", e, 4));

    auto const gradients = [&](auto const& policy, runs& n) {
      auto const block = os::checkpoint(
          [&n](auto const& l, auto const& h) {
            auto const u = os::checkpoint_name(counted(n.up)(os::einsum<B/X, J>(h, os::reshard<I, J>(l.up))), "u");
            return counted(n.down)(os::einsum<B/X, I>(u, os::reshard<J, I>(l.down)));
          },
          policy);
      auto const loss = [&](auto const& q, auto const& batch) {
        auto const first = block(q.layers[0], batch);
        return os::sum<>(block(q.layers[2], block(q.layers[1], first)));
      };
      return os::value_and_grad(loss)(p, x).gradient;
    };
    runs n;
    auto const want = gradients(os::save_all, n);
    CHECK(n.up == 3);
    CHECK(n.down == 3);
    auto const check = [&](auto const& policy, int ups, int downs) {
      runs again;
      auto const got = gradients(policy, again);
      CHECK(again.up == ups);
      CHECK(again.down == downs);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(same(got.layers[i].up, want.layers[i].up));
        CHECK(same(got.layers[i].down, want.layers[i].down));
      }
    };
    check(os::save_nothing, 6, 6);
    check(os::save_names("u"), 3, 6);
    check(os::save_names("nothing of this name"), 6, 6);
    check(os::save_all_but_gathers, 3, 3);
  });
}

TEST_CASE("a name means the operation that gave a variable, whatever type its cotangents are converted to") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    auto const w = t::placed<os::tensor<double, I/X>>(m, t::whole_numbers<double>("I", {{'I', 5}}, 2));
    auto const cubes = [](auto const& policy) {
      return [policy](auto const& v) {
        auto const cube = os::checkpoint(
            [](auto const& x) {
              auto const a = os::reshard<I>(x);
              auto const b = a * a;
              std::remove_cvref_t<decltype(b)> const y = a;
              return b * os::checkpoint_name(y, "y");
            },
            policy);
        return os::sum<>(cube(v));
      };
    };
    auto const got = os::value_and_grad(cubes(os::save_names("y")))(w);
    CHECK(same(got.gradient, os::scale(w * w, 3.0)));
  });
}

TEST_CASE("save_all_but_gathers gathers again what the backward needs, and that alone") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") < 2 || t::ranks() != m.size("X")) return;
    std::int64_t const n = t::ranks();
    t::extents_by_letter const e{{'B', 4 * n}, {'I', 2 * n}, {'J', 3 * n}};
    layer<os::values> const p{t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2)),
                              t::placed<os::tensor<double, J/X, I>>(m, t::whole_numbers<double>("JI", e, 3))};
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", e, 4));
    auto const loss = [](auto const& l, auto const& batch) {
      auto const u = os::einsum<B/X, J>(batch, os::reshard<I, J>(l.up));
      auto const y = os::einsum<B/X, I>(u, os::reshard<J, I>(l.down));
      return os::sum<>(y * y);
    };
    auto const kept = t::traffic_of([&] { (void)os::value_and_grad(loss)(p, x); });
    auto const again = t::traffic_of(
        [&] { (void)os::value_and_grad(os::checkpoint(loss, os::save_all_but_gathers))(p, x); });
    CHECK(again.bytes - kept.bytes == (n - 1) * e.at('I') * e.at('J') * 8);  // of `down`: the batch needs no cotangent
  });
}

namespace {

struct tanh_of {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return std::tanh(x); }
  KOKKOS_INLINE_FUNCTION double derivative(double x) const { return 1 - std::tanh(x) * std::tanh(x); }
};

}  // namespace

TEST_CASE("what is converted, or a constant, has no name of another operation") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    using stored = os::tensor<double, I/X, J>;
    auto const w = os::scale(t::placed<stored>(m, t::whole_numbers<double>("IJ", e, 2)), 0.1);
    auto const under = [&](auto const& policy) {
      auto const region = os::checkpoint(
          [](auto const& q) {
            auto const gathered = os::reshard<I, J>(q);
            auto const twice = gathered + gathered;
            using type = std::conditional_t<os::is_variable<std::remove_cvref_t<decltype(q)>>,
                                            os::variable<os::tensor<double, I, J>>, os::tensor<double, I, J>>;
            type h = gathered;  // its cotangents have another layout
            for (int k = 0; k < 3; ++k) h = os::map(tanh_of{}, os::checkpoint_name(h, "h") * twice);
            return h;
          },
          policy);
      return os::value_and_grad([&](auto const& q) { return os::sum<>(region(q)); })(w).gradient;
    };
    CHECK(same(under(os::save_names("h")), under(os::save_all)));
    auto const constant = os::checkpoint(
        [](auto const& q) {
          using type = std::remove_cvref_t<decltype(q)>;
          if constexpr (os::is_variable<type>)
            return type(q.value());
          else
            return q;
        },
        os::save_names("h"));
    auto const zero = os::value_and_grad([&](auto const& q) { return os::sum<>(constant(q)); })(w).gradient;
    CHECK(same(zero, os::scale(w, 0.0)));
  });
}
