// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of os::preduce by differences of sequential programs in plain loops: products of matrices and affine
/// maps, whose order matters, maxima, the operation of an online softmax, along one mesh axis and two; second ones; the
/// bytes that they move.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using values = std::vector<double>;

/// Compares `loss` with `plain`, which combines all numbers one after another, and with its differences.
template <class P, class Loss, class Plain>
void check_against(t::test_mesh const& m, t::extents_by_letter const& e, Loss const& loss, Plain const& plain) {
  t::global_tensor<double> g = t::whole_numbers<double>("IJ", e, 9);
  for (std::size_t i = 0; i < g.values.size(); ++i)
    g.values[i] = 0.3 * std::sin(1.0 + 7.0 * static_cast<double>(i)) + 0.4;
  t::global_tensor<double> slope = g;
  double const step = 1e-5, value = plain(g.values);
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    values up = g.values, down = g.values;
    up[i] += step, down[i] -= step;
    slope.values[i] = (plain(up) - plain(down)) / (2 * step);
  }
  auto const r = os::value_and_grad(loss)(t::placed<P>(m, g));
  CHECK(std::abs(os::value(r.value) - value) <= 1e-12 * (1 + std::abs(value)));
  CHECK(t::disagreements(m, r.gradient, slope, [](double got, double want) {
          return std::abs(got - want) <= 1e-6 * (1 + std::abs(want));
        }) == 0);
}

double sum_of_squares(values const& v) {
  double s = 0;
  for (double x : v) s += x * x;
  return s;
}

constexpr auto squares = [](auto const& y) { return os::sum<>(os::multiply(y, y)); };

/// Matrices of two rows and columns, one after another.
constexpr auto matrices = [](auto const& a, auto const& b) {
  return os::einsum<I, J>(os::rename<J, K>(a), os::rename<I, K>(b));
};
values product_of_matrices(values const& p) {
  values r(p.begin(), p.begin() + 4);
  for (std::size_t d = 1; d < p.size() / 4; ++d) {
    double const* const b = p.data() + 4 * d;
    r = {r[0] * b[0] + r[1] * b[2], r[0] * b[1] + r[1] * b[3], r[2] * b[0] + r[3] * b[2], r[2] * b[1] + r[3] * b[3]};
  }
  return r;
}

/// x -> s x + u, one after another.
constexpr auto affine = [](auto const& first, auto const& second) {
  auto const& [s, u] = first;
  auto const& [v, w] = second;
  return std::tuple(os::multiply(s, v), os::add(os::multiply(u, v), w));
};

/// Largest, sum of exponentials and weighted sum, of some scores and of others.
constexpr auto online_softmax = [](auto const& first, auto const& second) {
  auto const& [m, l, o] = first;
  auto const& [n, k, q] = second;
  auto const both = os::maximum(m, n);
  auto const of_first = os::exp(os::subtract(m, both)), of_second = os::exp(os::subtract(n, both));
  return std::tuple(both, os::add(os::multiply(l, of_first), os::multiply(k, of_second)),
                    os::add(os::multiply(o, of_first), os::multiply(q, of_second)));
};

/// The larger and its device's number, which is no real number.
constexpr auto larger = [](auto const& first, auto const& second) {
  auto const& [a, i] = first;
  auto const& [b, k] = second;
  auto const is_second = os::less(a, b);
  return std::tuple(os::where(is_second, b, a), os::where(is_second, k, i));
};

template <class Of>
void on_rows_of_devices(Of const& of) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    int const n = m.size("X");
    INFO(m.text());
    of(m, t::extents_by_letter{{'I', 2 * n}, {'J', 2}}, n);
  });
}

using rows = os::tensor<double, I/X, J>;

}  // namespace

TEST_CASE("products of matrices, along one mesh axis and two") {
  on_rows_of_devices([](t::test_mesh const& m, t::extents_by_letter e, int n) {
    auto const plain = [](values const& p) { return sum_of_squares(product_of_matrices(p)); };
    check_against<rows>(
        m, e,
        [](auto const& p) {
          return squares(os::shard_map<I, J>([](auto a) { return os::preduce<X>(matrices, a); }, p));
        },
        plain);
    check_against<rows>(  // within f matrices are divided over Y, and f communicates
        m, e,
        [](auto const& p) {
          auto const divided = os::reshard<I/X, J/Y>(p);
          return squares(os::shard_map<os::manual(X), I, J/Y>(
              [](auto a) {
                return os::preduce<X>([](auto const& l, auto const& r) {
                  return os::einsum<I, J/Y>(os::rename<J, K>(l), os::rename<I, K>(r));
                }, a);
              },
              divided));
        },
        plain);
    e['I'] *= m.size("Y");
    check_against<os::tensor<double, I/X/Y, J>>(
        m, e,
        [](auto const& p) {
          return squares(os::shard_map<I, J>([](auto a) { return os::preduce<X, Y>(matrices, a); }, p));
        },
        plain);
    check_against<os::tensor<double, I/X/Y, J>>(
        m, e,
        [](auto const& p) {
          return squares(os::shard_map<I, J>([](auto a) { return os::preduce<Y, X>(matrices, a); }, p));
        },
        [&](values const& p) {  // Y is major
          int const k = m.size("Y");
          values turned;
          for (int y = 0; y < k; ++y)
            for (int x = 0; x < n; ++x)
              turned.insert(turned.end(), p.begin() + 4 * (x * k + y), p.begin() + 4 * (x * k + y + 1));
          return sum_of_squares(product_of_matrices(turned));
        });
  });
}

TEST_CASE("maxima, sums and what is the first device's alone") {
  on_rows_of_devices([](t::test_mesh const& m, t::extents_by_letter const& e, int n) {
    auto const by_place = [n](auto const& combine) {
      return [n, combine](values const& p) {
        values r(p.begin(), p.begin() + 4);
        for (int d = 1; d < n; ++d)
          for (std::size_t k = 0; k < 4; ++k) r[k] = combine(r[k], p[4 * static_cast<std::size_t>(d) + k]);
        return sum_of_squares(r);
      };
    };
    auto const check = [&](auto const& f, auto const& plain) {
      check_against<rows>(
          m, e,
          [&](auto const& p) { return squares(os::shard_map<I, J>([&](auto a) { return os::preduce<X>(f, a); }, p)); },
          by_place(plain));
    };
    check([](auto const& a, auto const& b) { return os::maximum(a, b); },
          [](double a, double b) { return std::max(a, b); });
    check([](auto const& a, auto const& b) { return os::add(a, b); }, [](double a, double b) { return a + b; });
    check([](auto const& a, auto const&) { return a; }, [](double a, double) { return a; });
  });
}

TEST_CASE("blocks together: affine maps, constants and whole numbers among them, a derivative of the program's own") {
  on_rows_of_devices([](t::test_mesh const& m, t::extents_by_letter const& e, int n) {
    auto const in_row = [](auto const& body) {
      return [body](auto const& p) { return squares(os::shard_map<I, J>(body, p)); };
    };
    auto const affine_of = [n](auto const& slope) {
      return [n, slope](values const& p) {
        values y(4);
        for (std::size_t k = 0; k < 4; ++k) {
          double s = 1, u = 0;
          for (std::size_t d = 0; d < static_cast<std::size_t>(n); ++d)
            s *= slope(p[4 * d + k], 4 * d + k), u = u * slope(p[4 * d + k], 4 * d + k) + p[4 * d + k] * p[4 * d + k];
          y[k] = s + 2 * u;
        }
        return sum_of_squares(y);
      };
    };
    check_against<rows>(
        m, e, in_row([](auto a) {
          auto const [s, u] = os::preduce<X>(affine, os::add(a, 0.5), os::multiply(a, a));
          return os::add(s, os::multiply(u, 2.0));
        }),
        affine_of([](double x, std::size_t) { return x + 0.5; }));

    t::global_tensor<double> const c = t::whole_numbers<double>("IJ", e, 3);
    auto const constant = t::placed<rows>(m, c);
    check_against<rows>(
        m, e,
        [&](auto const& p) {
          return squares(os::shard_map<I, J>(
              [](auto a, auto b) {
                auto const [s, u] = os::preduce<X>(affine, os::multiply(b, 0.25), os::multiply(a, a));
                return os::add(s, os::multiply(u, 2.0));
              },
              p, constant));
        },
        affine_of([&](double, std::size_t i) { return 0.25 * c.values[i]; }));

    auto const number = t::placed<os::tensor<std::int32_t, I/X, J>>(m, t::whole_numbers<std::int32_t>("IJ", e, 4));
    auto const numbers = t::whole_numbers<std::int32_t>("IJ", e, 4).values;
    check_against<rows>(
        m, e,
        [&](auto const& p) {
          return squares(os::shard_map<I, J>(
              [](auto a, auto b) {
                auto const [largest, i] = os::preduce<X>(larger, a, b);
                return os::multiply(largest, os::cast<double>(i));
              },
              p, number));
        },
        [&](values const& p) {
          values y;
          for (std::size_t k = 0; k < 4; ++k) {
            std::size_t best = k;
            for (std::size_t i = k; i < p.size(); i += 4) best = p[i] > p[best] ? i : best;
            y.push_back(p[best] * numbers[best]);
          }
          return sum_of_squares(y);
        });

    auto const times = os::custom_vjp([](auto const& a, auto const& b) { return os::multiply(a, b); },
                                      [](auto const& g, auto const&, auto const& a, auto const& b) {
                                        return std::tuple(os::multiply(g, b), os::multiply(g, a));
                                      });
    check_against<rows>(m, e, in_row([&](auto a) { return os::preduce<X>(times, a); }), [](values const& p) {
      values y(4, 1.0);
      for (std::size_t i = 0; i < p.size(); ++i) y[i % 4] *= p[i];
      return sum_of_squares(y);
    });
  });
}

TEST_CASE("the operation of an online softmax, in a region, too") {
  on_rows_of_devices([](t::test_mesh const& m, t::extents_by_letter const& e, int) {
    auto const loss = [](auto const& p) {
      return squares(os::shard_map<J>(
          [](auto a) {
            auto const own = os::max<J>(a);
            auto const weights = os::exp(os::subtract(a, own));
            auto const [largest, l, o] = os::preduce<X>(online_softmax, own, os::sum<J>(weights),
                                                        os::sum<J>(os::multiply(weights, os::multiply(a, a))));
            return os::divide(o, l);
          },
          p));
    };
    auto const plain = [](values const& p) {
      values y;
      for (std::size_t j = 0; j < 2; ++j) {
        double l = 0, o = 0;
        for (std::size_t i = j; i < p.size(); i += 2) l += std::exp(p[i]), o += std::exp(p[i]) * p[i] * p[i];
        y.push_back(o / l);
      }
      return sum_of_squares(y);
    };
    check_against<rows>(m, e, loss, plain);
    check_against<rows>(m, e, [&](auto const& p) { return os::checkpoint(loss)(p); }, plain);
  });
}

TEST_CASE("second derivatives, which depend on the blocks of all devices") {
  on_rows_of_devices([](t::test_mesh const& m, t::extents_by_letter const& e, int) {
    auto const v = t::placed<rows>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const check = [&](auto const& loss) {
      t::global_tensor<double> g = t::whole_numbers<double>("IJ", e, 9);
      for (double& x : g.values) x = 0.1 * x + 0.05;
      auto const along_v = [&](auto const& w) {
        auto const first = os::value_and_grad(loss)(w);
        return os::sum<>(first.gradient * v) + first.value;
      };
      auto const r = os::value_and_grad(along_v)(t::placed<rows>(m, g));
      CHECK(t::disagreements(m, r.gradient, t::slopes<rows>(along_v, m, g), [](double got, double want) {
              return std::abs(got - want) <= 1e-6 * (1 + std::abs(want));
            }) == 0);
    };
    check([](auto const& p) {
      return squares(os::shard_map<I, J>([](auto a) { return os::preduce<X>(matrices, os::add(a, 0.5)); }, p));
    });
    check([](auto const& p) {
      return squares(os::shard_map<I, J>(
          [](auto a) {
            auto const [s, u] = os::preduce<X>(affine, os::add(a, 0.5), os::multiply(a, a));
            return os::add(os::multiply(s, s), u);
          },
          p));
    });
    check([](auto const& p) {  // independent of the values sent
      return squares(os::shard_map<I, J>(
          [](auto a) { return os::preduce<X>([](auto const& l, auto const& r) { return os::add(l, r); }, a); }, p));
    });
  });
}

TEST_CASE("backwards nothing moves but the cotangents of those that have no place in the rounds") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    if (t::ranks() != n) return;
    std::int64_t places = 1, rounds = 0;
    while (2 * places <= n) places *= 2, ++rounds;
    std::int64_t const pairs = n - places, block = 3 * 5 * 8;
    t::extents_by_letter const e{{'I', 3 * n}, {'J', 5}};
    auto const p = t::placed<rows>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const loss = [](auto const& x) {
      return squares(os::shard_map<I, J>(
          [](auto a) {
            auto const [s, u] = os::preduce<X>(affine, a, os::multiply(a, a));
            return os::add(s, u);
          },
          x));
    };
    auto const forward = t::traffic_of([&] { (void)loss(p); });
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(p); });
    CHECK(forward.bytes == 2 * block * (2 * pairs + places * rounds));
    CHECK(both.bytes - forward.bytes == 2 * block * pairs);
    auto const region = t::traffic_of([&] { (void)os::value_and_grad(os::checkpoint(loss))(p); });
    CHECK(region.bytes == forward.bytes + both.bytes);
  });
}
