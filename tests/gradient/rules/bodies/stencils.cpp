// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of functions that read blocks with halos: stencils whose functions give their own, and convolutions as
/// products of patches with weights, also strided, against differences of a plain undivided program in doubles; the
/// bytes that they move.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradient/by_differences.hpp"
#include "gradient/cotangents/complex_numbers.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(M, 3);
OSTRAKA_AXIS(N);

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// Σ y² for an image x[I, J, K] and weights w[M, N, K, L]; y is the convolution at every `step`-th point.
struct plain_convolution {
  std::int64_t step;
  bool ring;

  double operator()(t::global_tensor<double> const& w, t::global_tensor<double> const& x) const {
    std::int64_t const rows = x.extents.at('I'), columns = x.extents.at('J');
    double loss = 0;
    for (std::int64_t i = 0; i < rows; i += step)
      for (std::int64_t j = 0; j < columns; j += step)
        for (std::int64_t l = 0; l < w.extents.at('L'); ++l) {
          double const y = at_point(w, x, i, j, l);
          loss += y * y;
        }
    return loss;
  }

 private:
  double at_point(t::global_tensor<double> const& w, t::global_tensor<double> const& x, std::int64_t i, std::int64_t j,
                  std::int64_t l) const {
    std::int64_t const rows = x.extents.at('I'), columns = x.extents.at('J'), k = x.extents.at('K');
    double y = 0;
    for (std::int64_t m = 0; m < 3; ++m)
      for (std::int64_t n = 0; n < 3; ++n) {
        std::int64_t row = i + m - 1, column = j + n - 1;
        if (ring) row = (row + rows) % rows, column = (column + columns) % columns;
        if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
        for (std::int64_t c = 0; c < k; ++c)
          y += x.values[x.position({{'I', row}, {'J', column}, {'K', c}})] *
               w.values[w.position({{'M', m}, {'N', n}, {'K', c}, {'L', l}})];
      }
    return y;
  }
};

template <class F>
t::global_tensor<double> plain_slopes(F const& f, t::global_tensor<double> g) {
  t::global_tensor<double> slope = g;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    double const v = g.values[i], step = 1e-4;
    g.values[i] = v + step;
    double const up = f(g);
    g.values[i] = v - step;
    slope.values[i] = (up - f(g)) / (2 * step);
    g.values[i] = v;
  }
  return slope;
}

bool near(double got, double want) { return std::abs(got - want) <= 1e-6 * (1 + std::abs(want)); }

template <class... Options>
void check_convolution(t::test_mesh const& m, t::extents_by_letter const& e, std::int64_t step, bool ring,
                       Options const&... options) {
  auto w = t::whole_numbers<double>("MNKL", e, 3), x = t::whole_numbers<double>("IJK", e, 5);
  for (double& v : w.values) v = 0.1 * v + 0.03;
  for (double& v : x.values) v = 0.1 * v - 0.05;
  auto const loss = [&](auto const& weights, auto const& image) {
    auto const y = os::shard_map<I/X, J/Y, L>(
        [&](auto k, auto b) {
          auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(b, options...);
          if (step == 1) return os::einsum<I, J, L>(os::patches<M, N>(padded), k);
          return os::einsum<I, J, L>(os::patches<M, N>(os::every(I = step, J = step), padded), k);
        },
        weights, image);
    return os::sum<>(os::multiply(y, y));
  };
  plain_convolution const plain{step, ring};
  auto const weights = t::placed<tensor<M, N, K, L>>(m, w);
  auto const image = t::placed<tensor<I/X, J/Y, K>>(m, x);
  auto const by_weights = os::value_and_grad(loss)(weights, image);
  CHECK(near(os::value(by_weights.value), plain(w, x)));
  auto const slopes_of_weights = plain_slopes([&](auto const& k) { return plain(k, x); }, w);
  CHECK(t::disagreements(m, by_weights.gradient, slopes_of_weights, near) == 0);
  auto const by_image = os::value_and_grad([&](auto const& p, auto const& k) { return loss(k, p); })(image, weights);
  auto const slopes_of_image = plain_slopes([&](auto const& p) { return plain(w, p); }, x);
  CHECK(t::disagreements(m, by_image.gradient, slopes_of_image, near) == 0);
}

// c u(−1, 0) u(0, 1) + c² u(1, 1) of a padded block and one that is not; its derivatives by either.
struct uneven_product {
  template <class U>
  KOKKOS_FUNCTION double operator()(U const& u, double c) const {
    return c * u(-1, 0) * u(0, 1) + c * c * u(1, 1);
  }
  template <int K, class U>
  KOKKOS_FUNCTION double derivative(os::neighbour<2> n, U const& u, double c) const {
    static_assert(K == 0);
    if (n[0] == -1 && n[1] == 0) return c * u(0, 1);
    if (n[0] == 0 && n[1] == 1) return c * u(-1, 0);
    return n[0] == 1 && n[1] == 1 ? c * c : 0;
  }
  template <int K, class U>
  KOKKOS_FUNCTION double derivative(U const& u, double c) const {
    static_assert(K == 1);
    return u(-1, 0) * u(0, 1) + 2 * c * u(1, 1);
  }
};

// c u(−1) u(1) of a complex block and a real one.
struct weighted_product {
  template <class U>
  KOKKOS_FUNCTION auto operator()(U const& u, double c) const {
    return c * u(-1) * u(1);
  }
  template <int K, class U>
  KOKKOS_FUNCTION auto derivative(os::neighbour<1> n, U const& u, double c) const {
    return (n[0] == 0 ? 0 : c) * u(-n[0]);
  }
  template <int K, class U>
  KOKKOS_FUNCTION auto derivative(U const& u, double) const {
    return u(-1) * u(1);
  }
};

// Two padded blocks, of different widths.
struct crossed {
  template <class U, class V>
  KOKKOS_FUNCTION double operator()(U const& u, V const& v) const {
    return u(-1) * v(2) + v(-2) * v(0);
  }
  template <int K, class U, class V>
  KOKKOS_FUNCTION double derivative(os::neighbour<1> n, U const& u, V const& v) const {
    if (K == 0) return n[0] == -1 ? v(2) : 0;
    return n[0] == 2 ? u(-1) : n[0] == -2 ? v(0) : n[0] == 0 ? v(-2) : 0;
  }
};

// Reads two points before and one behind.
struct upwind {
  template <class U>
  KOKKOS_FUNCTION double operator()(U const& u, double c) const {
    return c * u(-2) * u(1) + 3 * u(-1);
  }
  template <int K, class U>
  KOKKOS_FUNCTION double derivative(os::neighbour<1> n, U const& u, double c) const {
    return n[0] == -2 ? c * u(1) : n[0] == 1 ? c * u(-2) : n[0] == -1 ? 3 : 0;
  }
  template <int K, class U>
  KOKKOS_FUNCTION double derivative(U const& u, double) const {
    return u(-2) * u(1);
  }
};

// A step of the heat equation.
auto heat(double k) {
  return os::differentiable(
      [=](auto const& u) { return u(0, 0) + k * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0)); },
      [=](os::neighbour<2> n, auto const&) { return n.distance() == 0 ? 1 - 4 * k : n.distance() == 1 ? k : 0; });
}

}  // namespace

TEST_CASE("convolutions over divided rows and columns: derivatives by weights and by the image") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const uneven{{'I', 7}, {'J', 5}, {'K', 2}, {'L', 2}, {'M', 3}, {'N', 3}};
    t::extents_by_letter const narrow{{'I', 3}, {'J', 2}, {'K', 1}, {'L', 2}, {'M', 3}, {'N', 3}};
    t::extents_by_letter const even{{'I', 4 * m.size("X")}, {'J', 2 * m.size("Y")}, {'K', 2},
                                    {'L', 1},               {'M', 3},               {'N', 3}};
    INFO(m.text());
    check_convolution(m, uneven, 1, false);
    check_convolution(m, uneven, 1, true, os::periodic);
    check_convolution(m, narrow, 1, true, os::periodic);
    check_convolution(m, even, 2, false);
    check_convolution(m, even, 2, true, os::periodic);
  });
}

TEST_CASE("stencils whose functions say their derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (bool const even : {true, false}) {
      t::extents_by_letter const e{{'I', even ? 2 * m.size("X") : 5}, {'J', even ? 2 * m.size("Y") : 4}};
      INFO(m.text(), t::text_of(e));
      auto const w = t::placed<tensor<I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 3));
      auto const check = [&](auto const& body) {
        t::check_by_differences<tensor<I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
          auto const y = os::shard_map<I/X, J/Y>(body, p, w);
          return os::sum<>(os::multiply(y, y));
        });
      };
      check([](auto a, auto) {  // by both, with the halo in flight
        return os::stencil(uneven_product{}, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a), a);
      });
      check([](auto a, auto b) {  // by the operand without padding
        return os::stencil(uneven_product{}, os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(b, os::periodic), a);
      });
      check([](auto a, auto b) {  // the same, with the halo in flight
        return os::stencil(uneven_product{}, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(b), a);
      });
      check([](auto a, auto b) {
        auto const one = os::exchange_halo<os::halo<I, 1>/X>(os::multiply(a, b));
        return os::stencil(crossed{}, one, os::exchange_halo<os::halo<I, 2>/X>(a, os::periodic));
      });
      check([](auto a, auto) {  // a halo that is wider at one end
        return os::stencil(upwind{}, os::exchange_halo<os::halo<I, 2, 1> / X>(a, os::periodic), a);
      });
      check([](auto a, auto b) {
        auto const around = os::patches<N>(os::exchange_halo<os::halo<I, 0, 2> / X>(os::multiply(a, b)));
        return os::einsum<I, J>(around, around);
      });
      check([](auto a, auto) {  // steps of a solver, and one in a region that is computed again
        auto const step = [](auto const& u) {
          return os::stencil(heat(0.1),
                             os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(u, os::periodic(J)));
        };
        return os::checkpoint(step)(step(os::multiply(a, a)));
      });
      check([](auto a, auto) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a, os::faces, os::boundary = 0.5);
        return os::add(os::own(padded), os::stencil(heat(0.2), padded));
      });
      if (!even) continue;
      t::check_by_differences<tensor<I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
        auto const y = os::shard_map<I/X, J/Y>(
            [](auto a) {
              auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a);
              return os::stencil(uneven_product{}, os::every(I = 2), padded, a);
            },
            p);
        return os::sum<>(os::multiply(y, y));
      });
    }
  });
}

TEST_CASE("stencils of complex blocks") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 2}};
    using complex_blocks = os::tensor<t::complex, I/X, J/Y>;
    auto const c = t::placed<tensor<I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 3));
    auto const z = t::placed<complex_blocks>(m, t::complex_numbers<t::complex>(3, "IJ", e));
    auto const loss = [](auto const& u, auto const& v) {
      auto const y = os::shard_map<I/X, J/Y>(
          [](auto a, auto b) {
            return os::stencil(weighted_product{}, os::exchange_halo<os::halo<I, 1>/X>(a, os::periodic), b);
          },
          u, v);
      return os::sum<>(os::real(os::multiply(y, os::conj(y))));
    };
    t::check_by_complex_differences<complex_blocks>(m, e, "IJ", [&](auto const& p) { return loss(p, c); });
    t::check_by_complex_differences<tensor<I/X, J/Y>>(m, e, "IJ", [&](auto const& p) { return loss(z, p); });
  });
}

TEST_CASE("variables that are the same on all devices, padded") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 4}, {'J', 3}};
    INFO(m.text());
    auto const w = t::placed<tensor<I/X, J>>(m, t::whole_numbers<double>("IJ", e, 3));
    auto const around = [](auto const& a) {
      auto const both = os::patches<N>(os::exchange_halo<os::halo<J, 1>>(a, os::periodic));
      return os::einsum<J>(both, both);
    };
    t::check_by_differences<tensor<J>>(m, e, "J", [&](auto const& p) {
      auto const y = os::shard_map<I/X, J>([&](auto a, auto b) { return os::multiply(b, around(a)); }, p, w);
      auto const z = os::shard_map<I/X, J>([&](auto b) { return os::multiply(b, around(p)); }, w);
      return os::sum<>(os::multiply(os::add(y, z), y));
    });
  });
}

TEST_CASE("derivatives of derivatives, of what is linear in the halo") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 4}};
    INFO(m.text());
    auto const w = t::placed<tensor<M, N>>(m, t::whole_numbers<double>("MN", {{'M', 3}, {'N', 3}}, 3));
    auto const loss = [&](auto const& p, auto const& k) {
      auto const y = os::shard_map<I/X, J/Y>(
          [](auto a, auto b) {
            auto const padded =
                os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(os::multiply(a, a), os::periodic(I));
            return os::add(os::einsum<I, J>(os::patches<M, N>(padded), b), os::own(padded));
          },
          p, k);
      return os::sum<>(os::multiply(y, y));
    };
    t::check_by_differences<tensor<I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      auto const r = os::value_and_grad(loss)(p, w);
      return os::sum<>(os::multiply(r.gradient, p));
    });
  });
}

TEST_CASE("the backward of an exchange moves as many bytes as it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (t::ranks() != m.size("X")) return;
    auto const n = static_cast<std::int64_t>(t::ranks());
    t::extents_by_letter const e{{'I', 4 * n}, {'J', 6}};
    auto const w = t::placed<tensor<I/X, J>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const loss = [](auto const& p) {
      return os::shard_map<>(
          [](auto a) {
            auto const around = os::patches<M>(os::exchange_halo<os::halo<I, 1>/X>(a));
            return os::psum<X>(os::sum<>(os::multiply(around, around)));
          },
          p);
    };
    auto const forward = t::traffic_of([&] { (void)loss(w); });
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(w); });
    CHECK(both.bytes - forward.bytes == 2 * (n - 1) * e.at('J') * 8);
  });
}
