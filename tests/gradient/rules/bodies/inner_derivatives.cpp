// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives in the body of os::shard_map: the gradient of a loss that is summed over the devices, each device's own,
/// and trees of parameters. Plain loops compute the expected values.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/tree.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class L>
struct affine {
  os::leaf<L, double, J> w;
  os::leaf<L, double> b;
  int power = 2;
};

template <class L>
struct network {
  affine<L> first;
  std::vector<affine<L>> rest;
  os::leaf<L, double, I/X> rows;
};

// Σ_i (Σ_j x_ij w_j)² of this device's rows.
constexpr auto squares = [](auto const& x) {
  return [&x](auto const& w) {
    auto const y = os::einsum<I>(x, w);
    return os::sum<>(os::multiply(y, y));
  };
};

// Rows [begin, end) of Σ_i (Σ_j x_ij w_j)² and its derivatives by w, one behind another.
std::vector<double> squares_by_loops(std::vector<double> const& x, std::vector<double> const& w, std::int64_t begin,
                                     std::int64_t end) {
  std::size_t const n = w.size();
  std::vector<double> all(n + 1);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    double y = 0;
    for (std::size_t j = 0; j < n; ++j) y += x[i * n + j] * w[j];
    all[0] += y * y;
    for (std::size_t j = 0; j < n; ++j) all[j + 1] += 2 * y * x[i * n + j];
  }
  return all;
}

template <class A>
std::vector<double> local_of(A const& a) {
  return t::read_elements<double>(a.local().data(), a.local().size());
}

void check_near(std::vector<double> const& got, double const* wanted) {
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) <= 1e-12 * (1 + std::abs(wanted[i])));
}

constexpr auto near = [](double got, double wanted) {
  return std::abs(got - wanted) <= 1e-12 * (1 + std::abs(wanted));
};

std::vector<t::extents_by_letter> small_extents() {
  std::vector<t::extents_by_letter> all;
  for (std::int64_t i : {0, 1, 2, 3, 5})
    for (std::int64_t j : {0, 1, 2, 3}) all.push_back({{'I', i}, {'J', j}});
  return all;
}

}  // namespace

TEST_CASE("a loss summed over X has the gradient of the sum, pvary each device's own") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : small_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const all_x = t::whole_numbers<double>("IJ", e, 3), all_w = t::whole_numbers<double>("J", e, 5);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, all_x);
      auto const w = t::placed<os::tensor<double, J>>(m, all_w);
      auto const of_all = squares_by_loops(all_x.values, all_w.values, 0, e.at('I'));
      auto const rows = x.range(0);
      auto const own = squares_by_loops(all_x.values, all_w.values, rows.begin, rows.end);

      auto const [value, gradient] = os::shard_map<os::dims<>{}, os::dims<J>{}>(
          [](auto p, auto d) {
            auto const r = os::value_and_grad([&](auto const& v) { return os::psum<X>(squares(d)(v)); })(p);
            static_assert(std::is_same_v<decltype(r.gradient), os::tensor<double, J>>);
            return std::tuple(r.value, r.gradient);
          },
          w, x);
      check_near(local_of(value), of_all.data());
      check_near(local_of(gradient), of_all.data() + 1);

      // A block of rows for each device: its own loss, and its own gradient.
      os::shard_map<>(
          [&](auto p, auto d) {
            auto const r = os::value_and_grad(squares(d))(os::pvary<X>(p));
            static_assert(std::is_same_v<decltype(r.gradient), os::tensor<double, J, os::varying(X)>>);
            check_near(local_of(r.value), own.data());
            check_near(local_of(r.gradient), own.data() + 1);
            auto const mean = os::value_and_grad([&](auto const& v) { return os::pmean<X>(squares(d)(v)); })(p);
            double const n = os::axis_size<X>(d);
            for (std::size_t j = 0; j < all_w.values.size(); ++j)
              CHECK(std::abs(local_of(mean.gradient)[j] * n - of_all[j + 1]) <= 1e-12 * (1 + std::abs(of_all[j + 1])));
            // Cotangents that vary give the same as a parameter that varies.
            auto const varying = os::value_and_grad<os::dims<J, os::varying(X)>>(squares(d))(p);
            check_near(local_of(varying.gradient), own.data() + 1);
            return os::psum<X>(r.value);
          },
          w, x);
    }
  });
}

TEST_CASE("of a block: the gradient is a block, also where it is not used, and once more") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i : {0, 1, 3, 4}) {
      t::extents_by_letter const e{{'I', i}, {'J', 2}};
      INFO(m.text(), t::text_of(e));
      auto const all = t::whole_numbers<double>("IJ", e, 3);
      auto const a = t::placed<os::tensor<double, I/X, J>>(m, all);
      auto const [g, unused, second] = os::shard_map<os::dims<I/X, J>{}, os::dims<I/X, J>{}, os::dims<I/X, J>{}>(
          [](auto x) {
            auto const cubes = [](auto const& v) {
              return os::psum<X>(os::sum<>(os::multiply(os::multiply(v, v), v)));
            };
            auto const r = os::value_and_grad(cubes)(x);
            auto const none = os::value_and_grad([&](auto const&) { return os::psum<X>(os::sum<>(x)); })(x);
            auto const curvature = os::value_and_grad([&](auto const& v) {
              return os::psum<X>(os::sum<>(os::value_and_grad(cubes)(v).gradient));
            })(x);
            return std::tuple(r.gradient, none.gradient, curvature.gradient);
          },
          a);
      auto expected = all;
      for (double& v : expected.values) v = 3 * v * v;
      CHECK(t::disagreements(m, g, expected) == 0);
      for (double& v : expected.values) v = 0;
      CHECK(t::disagreements(m, unused, expected) == 0);
      for (std::size_t k = 0; k < all.values.size(); ++k) expected.values[k] = 6 * all.values[k];
      CHECK(t::disagreements(m, second, expected) == 0);
    }
  });
}

TEST_CASE("a loss over two mesh axes: summed over one, each device's own along the other") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i : {0, 1, 3, 4}) {
      t::extents_by_letter const e{{'I', i}, {'J', 3}};
      INFO(m.text(), t::text_of(e));
      auto const all = t::whole_numbers<double>("IJ", e, 3), one = t::whole_numbers<double>("", e, 4);
      auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, all);
      auto const s = t::placed<os::tensor<double>>(m, one);
      double column_sums = 0;  // those of this device's columns
      auto const columns = a.range(1);
      for (std::int64_t r = 0; r < i; ++r)
        for (std::int64_t c = columns.begin; c < columns.end; ++c)
          column_sums += all.values[static_cast<std::size_t>(r * 3 + c)];
      os::shard_map<>(
          [&](auto p, auto d) {
            auto const r = os::value_and_grad([&](auto const& v) {
              return os::psum<X>(os::multiply(os::multiply(v, v), os::sum<>(d)));
            })(os::pvary<Y>(p));
            static_assert(std::is_same_v<decltype(r.gradient), os::tensor<double, os::varying(Y)>>);
            double const slope = 2 * one.values[0] * column_sums;
            check_near(local_of(r.gradient), &slope);
            // A parameter that varies along both mesh axes gets, along X, its own part of the loss that is the same
            // there.
            auto const both = os::value_and_grad([&](auto const& v) {
              return os::psum<X>(os::multiply(os::multiply(v, v), os::sum<>(d)));
            })(os::pvary<X, Y>(p));
            double own = 0;
            for (double x : local_of(d)) own += x;
            own *= 2 * one.values[0];
            check_near(local_of(both.gradient), &own);
            return os::psum<Y>(both.value);
          },
          s, a);
    }
  });
}

TEST_CASE("per-sample gradients in a body (jax-ml/jax#36886), in loops and regions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::global_tensor<double> const samples{"IJ", {{'I', 4}, {'J', 2}}, {0, 1, 1, 1, 1, 0, 0, 0}};
    t::global_tensor<double> const weights{"J", {{'J', 2}}, {1, 2}};
    auto const x = t::placed<os::tensor<double, I/X, J>>(m, samples);
    auto const p = t::placed<os::tensor<double, J>>(m, weights);
    auto const g = os::shard_map<I/X, J>(
        [](auto w, auto d) {
          auto out = os::zeros_like(d);
          auto const n = d.local().extent(0);
          for (std::size_t i = 0; i < n; ++i) {
            auto const row = os::zeros<decltype(os::pvary<X>(w))>(w.mesh(X), J = w.extent(J));
            t::change_block(row, [&, seen = t::host_block(d)](auto const& block) {
              for (std::size_t j = 0; j < 2; ++j) block(j) = seen(i, j);
            });
            auto const loss = [&](auto const& v) { return os::einsum<>(row, v); };
            auto const r = i % 2 == 0 ? os::value_and_grad(loss)(os::pvary<X>(w)).gradient
                                      : os::value_and_grad(os::checkpoint([&](auto const& v) {
                                          return os::einsum<>(row, v);
                                        }))(os::pvary<X>(w)).gradient;
            t::change_block(out, [&, seen = t::host_block(r)](auto const& block) {
              for (std::size_t j = 0; j < 2; ++j) block(i, j) = seen(j);
            });
          }
          return out;
        },
        p, x);
    CHECK(t::disagreements(m, g, samples) == 0);  // the gradient of w · x is x
    auto const looped = os::shard_map<J>(
        [](auto w, auto d) {
          return os::value_and_grad([&](auto const& v) {
                   os::variable<os::tensor<double>> loss = os::psum<X>(squares(d)(v));
                   for (int k = 0; k < 2; ++k) loss = loss + os::psum<X>(squares(d)(v));
                   return loss;
                 })(w)
              .gradient;
        },
        p, x);
    auto const once = squares_by_loops(samples.values, weights.values, 0, 4);
    double const thrice[] = {3 * once[1], 3 * once[2]};
    check_near(local_of(looped), thrice);
  });
}

TEST_CASE("trees enter a body, and gradients of them are trees of blocks") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i : {0, 1, 3, 4}) {
      t::extents_by_letter const e{{'I', i}, {'J', 3}};
      INFO(m.text(), t::text_of(e));
      auto const all_x = t::whole_numbers<double>("IJ", e, 3), all_w = t::whole_numbers<double>("J", e, 5);
      auto const all_rows = t::whole_numbers<double>("I", e, 6), one = t::whole_numbers<double>("", e, 7);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, all_x);
      affine<os::values> const layer{t::placed<os::tensor<double, J>>(m, all_w), t::placed<os::tensor<double>>(m, one)};
      network<os::values> const p{layer, {layer, layer}, t::placed<os::tensor<double, I/X>>(m, all_rows)};
      // Σ_i r_i (Σ_j x_ij w_j + b) of the first layer and each of the rest.
      auto const loss = [](auto const& q, auto const& d) {
        auto const term = [&](auto const& a) {
          auto const b = os::broadcast<I>(os::pvary<X>(a.b), I = d.extent(I));
          return os::einsum<>(q.rows, os::add(os::einsum<I>(d, a.w), b));
        };
        auto sum = term(q.first);
        for (auto const& a : q.rest) sum = os::add(sum, term(a));
        return sum;
      };
      double row_sum = 0;
      std::vector<double> by_w(3), by_rows;
      for (std::size_t k = 0; k < static_cast<std::size_t>(i); ++k) {
        row_sum += all_rows.values[k];
        double y = one.values[0];
        for (std::size_t j = 0; j < 3; ++j) {
          by_w[j] += all_rows.values[k] * all_x.values[k * 3 + j];
          y += all_x.values[k * 3 + j] * all_w.values[j];
        }
        by_rows.push_back(3 * y);
      }
      auto const [w0, b0, w2, rows] =
          os::shard_map<os::dims<J>{}, os::dims<>{}, os::dims<J>{}, os::dims<I/X>{}>(
              [&](auto const& q, auto const& d) {
                static_assert(std::is_same_v<decltype(q.rows.extent(I)), decltype(d.extent(I))>);
                CHECK(q.first.power == 2);
                CHECK(q.rest.size() == 2);
                auto const r = os::value_and_grad([&](auto const& v) { return os::psum<X>(loss(v, d)); })(q);
                auto const own = os::value_and_grad([&](auto const& v) { return loss(v, d); })(os::pvary<X>(q));
                auto const summed = os::psum<X>(own.gradient.first.w);  // of each device's own
                check_near(local_of(summed), by_w.data());
                auto next =
                    os::tree_map([](auto const& a, auto const& b) { return os::subtract(a, b); }, q, r.gradient);
                static_assert(std::is_same_v<decltype(next.first.w), std::remove_cvref_t<decltype(q.first.w)>>);
                return std::tuple(r.gradient.first.w, r.gradient.first.b, r.gradient.rest[1].w, r.gradient.rows);
              },
              p, x);
      check_near(local_of(w0), by_w.data());
      check_near(local_of(b0), &row_sum);
      check_near(local_of(w2), by_w.data());
      t::global_tensor<double> const wanted{"I", {{'I', i}}, by_rows};
      CHECK(t::disagreements(m, rows, wanted, near) == 0);

      // A tree of variables enters, too: the derivative of the whole program, and of one in the body once more.
      auto const outer = os::value_and_grad([&](auto const& q) {
        return os::shard_map<>([&](auto const& v, auto const& d) { return os::psum<X>(loss(v, d)); }, q, x);
      })(p);
      check_near(local_of(outer.gradient.rest[0].w), by_w.data());
      check_near(local_of(outer.gradient.first.b), &row_sum);
      CHECK(t::disagreements(m, outer.gradient.rows, wanted,
                             near) == 0);
      // Σ_j w̄_j = Σ_i r_i Σ_j x_ij, whose derivative by r_i is Σ_j x_ij
      auto const twice = os::value_and_grad([&](auto const& q) {
        return os::shard_map<>(
            [&](auto const& v, auto const& d) {
              auto const r = os::value_and_grad([&](auto const& u) { return os::psum<X>(loss(u, d)); })(v);
              return os::sum<>(r.gradient.first.w);
            },
            q, x);
      })(p);
      std::vector<double> row_sums;
      for (std::size_t k = 0; k < static_cast<std::size_t>(i); ++k)
        row_sums.push_back(all_x.values[3 * k] + all_x.values[3 * k + 1] + all_x.values[3 * k + 2]);
      CHECK(t::disagreements(m, twice.gradient.rows, {"I", {{'I', i}}, row_sums},
                             near) == 0);
    }
  });
}

TEST_CASE("arrays and vectors of trees enter, among other operands") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    INFO(m.text());
    auto const all_x = t::whole_numbers<double>("IJ", e, 3), all_w = t::whole_numbers<double>("J", e, 5);
    auto const x = t::placed<os::tensor<double, I/X, J>>(m, all_x);
    auto const b = t::placed<os::tensor<double>>(m, {"", {}, {4}});
    affine<os::values> const layer{t::placed<os::tensor<double, J>>(m, all_w), b};
    auto const [first, second] = os::shard_map<os::dims<J>{}, os::dims<J>{}>(
        [](auto const& array, auto const& pair, auto d) {
          auto const loss = [&](auto const& v) {  // b₁ Σ_ij x_ij w₀_j
            return os::psum<X>(os::multiply(v[1].b, os::sum<>(os::einsum<I>(d, v[0].w))));
          };
          return std::tuple(os::value_and_grad(loss)(array).gradient[0].w,
                            os::value_and_grad(loss)(std::get<0>(pair)).gradient[0].w);
        },
        std::array{layer, layer}, std::tuple(std::vector{layer, layer}, x), x);
    std::vector<double> sums(2);
    for (std::size_t k = 0; k < 6; ++k) sums[k % 2] += 4 * all_x.values[k];
    check_near(local_of(first), sums.data());
    check_near(local_of(second), sums.data());
  });
}
