// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The order of includes does not matter: a program's templates stand before ostraka/gradient.hpp is included, and take
/// variables, also if they name the namespace (os::add, not add, which argument-dependent lookup would find). Values
/// and derivatives are those of plain loops, and each template also takes tensors.

#include <doctest/doctest.h>

#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(P, 2);

struct cubed {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x) const {
    return x * x * x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T x) const {
    return T(3) * x * x;
  }
};

// The test differentiates Σ of the elements of each result by x[I_X, J].

struct by_arithmetic {
  template <class A>
  auto operator()(A const& x) const {
    auto const y = os::add(os::multiply(x, x), os::scale(2.0, x));
    return os::subtract(os::divide(os::negate(y), 4.0), 1.0) * 3.0 - x / 2.0 + -x;
  }
  static double of(double x) { return (-(x * x + 2 * x) / 4 - 1) * 3 - x / 2 - x; }
  static double derivative(double x) { return -(2 * x + 2) / 4 * 3 - 1.5; }
};

struct by_choice {
  template <class A>
  auto operator()(A const& x) const {
    return os::where(os::less(x, 0.25), os::minimum(x, -0.5), os::maximum(os::cast<double>(x), 0.5)) * x;
  }
  static double of(double x) { return (x < 0.25 ? std::fmin(x, -0.5) : std::fmax(x, 0.5)) * x; }
  static double derivative(double x) {
    if (x < 0.25) return x < -0.5 ? 2 * x : -0.5;
    return x > 0.5 ? 2 * x : 0.5;
  }
};

struct by_map {
  template <class A>
  auto operator()(A const& x) const {
    return os::map(cubed{}, x);
  }
  static double of(double x) { return x * x * x; }
  static double derivative(double x) { return 3 * x * x; }
};

struct by_functions {
  template <class A>
  auto operator()(A const& x) const {
    return os::sin(x) * os::map(os::exp, x) + os::clamp(os::pow(os::square(x) + 1.0, 1.5), 0.0, 1.5) + os::floor(x);
  }
  static double power(double x) { return std::pow(x * x + 1, 1.5); }
  static double of(double x) { return std::sin(x) * std::exp(x) + std::fmin(power(x), 1.5) + std::floor(x); }
  static double derivative(double x) {
    return (std::sin(x) + std::cos(x)) * std::exp(x) + (power(x) < 1.5 ? 3 * x * std::sqrt(x * x + 1) : 0.0);
  }
};

// The verbs of one move.
struct by_moves {
  template <class A>
  auto operator()(A const& x) const {
    auto const whole = os::all_gather<X>(x);  // [I, J]
    auto const columns = os::all_to_all<J/X>(os::slice<I/X>(whole));
    auto const ones = os::slice<L/X>(os::full<os::tensor<double, L>>(x.mesh(X), L = 6, 1.0));
    auto const summands = os::einsum<I, J, os::partial(X)>(os::all_gather<X>(columns), ones, ones);
    return os::add(os::reduce_scatter<I/X>(summands), os::slice<I/X>(os::all_reduce<X>(summands)));
  }
  static double of(double x) { return 12 * x; }
  static double derivative(double) { return 12; }
};

// x[I, J] · Σ_I x², of which devices sum their parts.
template <class A>
auto by_a_body(A const& x) {
  return os::shard_map<I/X, J>(
      [](auto const& block) { return block * os::psum<X>(os::einsum<J>(block, block)); }, x);
}

// Reductions of rows, and back, under other shardings and names.
template <class A>
auto by_algebra(A const& x) {
  auto const columns = os::reshard<I, J/X>(os::named("x", os::copy(x)));  // [I, J_X]
  auto const rows = os::rename<K, J>(os::rename<J, K>(os::reshard<I/X, J>(columns)));
  auto const ones = os::full<os::tensor<double, J>>(x.mesh(X), J = 3, 1.0);
  return os::sum<I/X>(rows * x) + os::mean<I/X>(x) + os::max<I/X>(x) - os::min<I/X>(columns) +
         os::prod<I/X>(rows) + os::contract<J>(rows, ones) + os::sum<I/X>(os::zeros_like(x));
}

struct doubled {
  template <class U>
  KOKKOS_INLINE_FUNCTION double operator()(U const& u) const {
    return 2 * u(0);
  }
  template <class U>
  KOKKOS_INLINE_FUNCTION double derivative(os::neighbour<1> n, U const&) const {
    return n[0] == 0 ? 2.0 : 0.0;
  }
};

// In a body: x² + 5x, and sums that cancel.
struct by_exchanges {
  template <class A>
  auto operator()(A const& x) const {
    return os::shard_map<I/X, J>(
        [](auto const& block) {
          auto begun = os::start_shift<X>(block, 1);
          auto const square = block * block;
          auto const there_and_back = os::shift<X>(std::move(begun).wait(), -1);
          auto const own = os::own(os::exchange_halo<os::halo<J, 1>>(block));
          auto const twice = os::stencil(doubled{}, os::start_exchange_halo<os::halo<J, 1>>(block));
          auto const whole = os::einsum<I, J>(os::part<J>(block, 0, 1));
          auto const sums = os::einsum<J>(block);
          std::vector<os::hop> const hops;
          auto const none = os::ppermute<X>(sums, hops) - os::start_ppermute<X>(sums, hops).wait();
          auto const reduced = os::preduce<X>([](auto const& a, auto const& b) { return a + b; }, sums);
          return square + there_and_back + own + twice + whole + (none + os::pvary<X>(reduced - os::psum<X>(sums)));
        },
        x);
  }
  static double of(double x) { return x * x + 5 * x; }
  static double derivative(double x) { return 2 * x + 5; }
};

// The rows' softmax, times the row: Σ p x, whose derivative is p (1 + x − Σ p x).
template <class A>
auto mean_by_softmax(A const& x) {
  return os::einsum<I/X>(os::softmax<J>(x), x);
}

// A network's layer: norms, rotations of equal pairs, a loss of classes.
template <class A>
auto by_a_layer(A const& x) {
  auto const ones = os::full<os::tensor<double, P>>(x.mesh(X), 1.0);
  auto const classes = os::zeros<os::tensor<int, I/X>>(x.mesh(X), I = x.extent(I));
  auto const turned = os::rope<I, J, P>(os::einsum<I/X, J, P>(x, ones), os::from_position(3));
  auto const mean = os::rms_norm<J>(x, os::epsilon(0.5)), apart = os::layer_norm<J>(x, os::epsilon(0.5));
  return os::sum<>(turned * turned) + os::sum<>(mean * mean) + os::sum<>(apart * apart) +
         os::sum<>(os::cross_entropy<J>(x, classes));
}

// Attention of the rows to those of B, and to the same in parts in a ring.
template <class A, class B>
auto by_attention(A const& x, B const& b) {
  auto const parts = os::slice<K/X>(b);
  return os::sum<>(os::attention<I, K, J>(x, b, b, os::score_scale(0.5))) +
         os::sum<>(os::attention<I, K/X, J>(x, parts, parts, os::ring, os::score_scale(0.5)));
}

// Running sums, rows in order, and the largest of each row, over its length.
template <class A>
auto by_order(A const& x) {
  auto const largest = os::top_k<J, K>(x, K = 1).values;
  return os::add(os::cumsum<J>(x), os::add(os::sort<J>(x), os::sort_by_key<J>(x).keys)) +
         os::divide(os::einsum<I/X>(largest), os::norm<I/X>(x));
}

// Axes that are added, removed, and permuted: 8x.
struct by_shapes {
  template <class A>
  auto operator()(A const& x) const {
    auto const back = os::transpose<I, J>(os::flip<I / X>(os::transpose<J, I>(os::flip<I / X>(x))));
    auto const rolled = os::roll<J>(os::roll<J>(back, 1), -1);
    auto const padded = os::window<J>(os::pad<J>(rolled, 2, 1), 2, 5);
    auto const once = os::window<J>(os::concatenate<J>(padded, x), 0, 3);
    auto const repeated = os::sum<I / X, J>(os::broadcast<I / X, J, L>(os::take<L>(os::stack<L>(once, x), 0), L = 8));
    return os::sum<I / X, J>(
        os::split<K, J, L>(os::merge<J, L, K>(os::broadcast<I / X, J, L>(repeated, L = 1)), L = 1));
  }
  static double of(double x) { return 8 * x; }
  static double derivative(double) { return 8; }
};

// Rows by number, and back: 3x, for each number occurs once.
struct by_indices {
  template <class A>
  auto operator()(A const& x) const {
    auto const numbers = os::iota<std::int64_t, J>(x.mesh(X), J = 3);
    auto const columns = os::rename<J, L>(x);
    auto const taken = os::take<L>(columns, numbers);  // [J, I_X]
    auto const added = os::scatter_add<L, I / X, L>(taken, numbers, L = 3);
    auto const again = os::segment_sum<J, L>(os::transpose<I, J>(taken), numbers, L = 3);
    auto const written = os::write_at<L>(columns, 1, os::take<L>(columns, 1));
    return os::dropout(os::rename<L, J>(os::add(os::add(added, again), written)), 0.0, os::seed(1)) +
           os::lower_triangle<I, J>(x, os::diagonal(-100)) * 1.0;
  }
  static double of(double x) { return 3 * x; }
  static double derivative(double) { return 3; }
};

}  // namespace

#include <ostraka/gradient.hpp>

namespace {

constexpr std::int64_t columns = 3, keys = 4;

double element(std::int64_t i, std::int64_t j) {
  return 0.3 * static_cast<double>(i) - 0.7 * static_cast<double>(j) + 0.1;
}

t::global_tensor<double> numbers(std::int64_t rows) {
  t::global_tensor<double> g{"IJ", {{'I', rows}, {'J', columns}}, {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) g.values.push_back(element(i, j));
  return g;
}

constexpr auto agree = [](double got, double want) { return std::abs(got - want) <= 1e-12 * (1 + std::abs(want)); };

template <class F>
void check(F const& f) {
  t::on_every_mesh([&](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 2, 3, 7}) {
      auto const g = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, g);
      double sum = 0;
      auto values = g, derivatives = g;
      for (std::size_t k = 0; k < g.values.size(); ++k) {
        values.values[k] = F::of(g.values[k]);
        derivatives.values[k] = F::derivative(g.values[k]);
        sum += values.values[k];
      }
      CHECK(t::disagreements(m, f(x), values, agree) == 0);
      auto const [value, gradient] = os::value_and_grad([&](auto const& v) { return os::sum<>(f(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

}  // namespace

TEST_CASE("arithmetic") { check(by_arithmetic{}); }
TEST_CASE("comparisons and choices") { check(by_choice{}); }
TEST_CASE("maps") { check(by_map{}); }
TEST_CASE("shapes") { check(by_shapes{}); }
TEST_CASE("indices") { check(by_indices{}); }
TEST_CASE("functions of elements") { check(by_functions{}); }
TEST_CASE("moves and products") { check(by_moves{}); }
TEST_CASE("blocks that are exchanged") { check(by_exchanges{}); }

TEST_CASE("collectives of bodies") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 2, 3, 7}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        double squares = 0, all = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
          squares += element(i, j) * element(i, j);
          all += element(i, j);
        }
        for (std::int64_t i = 0; i < rows; ++i)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] = squares + 2 * element(i, j) * all;
        sum += squares * all;
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return os::sum<>(by_a_body(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

TEST_CASE("reductions, contractions, other names and shardings") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 2}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double product = 1;
        sum += element(i, 0) - element(i, columns - 1);  // elements fall with j
        for (std::int64_t j = 0; j < columns; ++j) {
          sum += element(i, j) * (element(i, j) + 1.0 / columns + 1);
          product *= element(i, j);
        }
        sum += product;
        for (std::int64_t j = 0; j < columns; ++j)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] =
              2 * element(i, j) + 1.0 / columns + 1 + (j == 0 ? 1 : 0) - (j == columns - 1 ? 1 : 0) +
              product / element(i, j);
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return os::sum<>(by_algebra(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

TEST_CASE("softmax") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 3}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double all = 0, mean = 0;
        for (std::int64_t j = 0; j < columns; ++j) all += std::exp(element(i, j));
        for (std::int64_t j = 0; j < columns; ++j) mean += std::exp(element(i, j)) / all * element(i, j);
        for (std::int64_t j = 0; j < columns; ++j)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] =
              std::exp(element(i, j)) / all * (1 + element(i, j) - mean);
        sum += mean;
      }
      auto const [value, gradient] =
          os::value_and_grad([](auto const& v) { return os::sum<>(mean_by_softmax(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

TEST_CASE("running sums, rows in order, and norms") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 3}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double squares = 0;
        for (std::int64_t j = 0; j < columns; ++j) squares += element(i, j) * element(i, j);
        double const length = std::sqrt(squares), largest = element(i, 0);  // elements fall with j
        for (std::int64_t j = 0; j < columns; ++j) {
          auto const sums = static_cast<double>(columns - j);
          sum += (sums + 2) * element(i, j) + largest / length;
          derivatives.values[static_cast<std::size_t>(i * columns + j)] =
              sums + 2 + columns * ((j == 0 ? 1 / length : 0.0) - largest * element(i, j) / (squares * length));
        }
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return os::sum<>(by_order(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

TEST_CASE("norms, rotations and losses of classes") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 3}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double mean = 0, squares = 0, apart = 0, all = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          mean += element(i, j) / columns;
          squares += element(i, j) * element(i, j);
          all += std::exp(element(i, j));
        }
        for (std::int64_t j = 0; j < columns; ++j) apart += std::pow(element(i, j) - mean, 2);
        double const of_squares = squares / columns + 0.5, of_apart = apart / columns + 0.5;
        for (std::int64_t j = 0; j < columns; ++j)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] =
              4 * element(i, j) + element(i, j) / (of_squares * of_squares) +
              (element(i, j) - mean) / (of_apart * of_apart) + std::exp(element(i, j)) / all - (j == 0 ? 1 : 0);
        sum += 2 * squares + squares / of_squares + apart / of_apart + std::log(all) - element(i, 0);
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return by_a_layer(v); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
      CHECK(agree(os::value(by_a_layer(x)), sum));
    }
  });
}

TEST_CASE("attention, and keys that go round") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::int64_t const rows : {0, 1, 3, 7}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      t::global_tensor<double> g{"KJ", {{'K', keys}, {'J', columns}}, {}};
      for (std::int64_t k = 0; k < keys; ++k)
        for (std::int64_t j = 0; j < columns; ++j) g.values.push_back(element(j, k));
      auto const b = t::placed<os::tensor<double, K, J>>(m, g);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double weights[keys], totals[keys], all = 0, result = 0;
        for (std::int64_t k = 0; k < keys; ++k) {
          double score = totals[k] = 0;
          for (std::int64_t j = 0; j < columns; ++j) {
            score += 0.5 * element(i, j) * element(j, k);
            totals[k] += element(j, k);
          }
          all += weights[k] = std::exp(score);
        }
        for (std::int64_t k = 0; k < keys; ++k) result += weights[k] / all * totals[k];
        for (std::int64_t j = 0; j < columns; ++j) {
          double derivative = 0;
          for (std::int64_t k = 0; k < keys; ++k)
            derivative += weights[k] / all * (totals[k] - result) * 0.5 * element(j, k);
          derivatives.values[static_cast<std::size_t>(i * columns + j)] = 2 * derivative;
        }
        sum += 2 * result;
      }
      auto const [value, gradient] = os::value_and_grad([&](auto const& v) { return by_attention(v, b); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
      CHECK(agree(os::value(by_attention(x, b)), sum));
    }
  });
}
