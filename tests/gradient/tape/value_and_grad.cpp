// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::value_and_grad of einsums, maps, arithmetic, sums, reshards and renames against derivatives by plain loops,
/// under several shardings of weights and data; operands that are used twice, or not at all.
// labels: essential
// gpu:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <vector>

#include "files/scratch_file.hpp"
#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

struct tanh_ {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x) const {
    return std::tanh(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T x) const {
    return T(1) - std::tanh(x) * std::tanh(x);
  }
};

struct seven_times {
  KOKKOS_FUNCTION double operator()(double v) const { return 7 * v; }
};

using whole = t::global_tensor<double>;

double at(whole const& g, std::int64_t i, std::int64_t j, std::int64_t columns) {
  return g.values[static_cast<std::size_t>(i * columns + j)];
}

// Σ tanh(x[B, I] w[I, J])² and its derivative by w.
struct expected {
  double value = 0;
  whole gradient;
};

expected by_loops(whole const& x, whole const& w, t::extents_by_letter const& e) {
  std::int64_t const b = e.at('B'), n = e.at('I'), m = e.at('J');
  expected r{0, w};
  for (double& v : r.gradient.values) v = 0;
  for (std::int64_t s = 0; s < b; ++s)
    for (std::int64_t j = 0; j < m; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += at(x, s, i, n) * at(w, i, j, m);
      double const h = std::tanh(sum);
      r.value += h * h;
      for (std::int64_t i = 0; i < n; ++i)
        r.gradient.values[static_cast<std::size_t>(i * m + j)] += 2 * h * (1 - h * h) * at(x, s, i, n);
    }
  return r;
}

// nvcc and hipcc compile plans of gradients, too: they compile this test, and none of those of plans.
constexpr auto sum_of_products = [](auto const& w, auto const& x) {
  return os::sum<>(os::einsum<B/X, J>(x, os::reshard<I, J>(w)));
};
constexpr auto plan = os::gradient_plan<os::tensor<double, I/X, J>, os::tensor<double, B/X, I>>(sum_of_products);
static_assert(plan.backward.count(os::step::reduce_scatter) == 1);

bool close(double got, double want) { return std::abs(got - want) <= 1e-12 * (1 + std::abs(want)); }

template <auto... Weights, auto... Use, auto... Data, auto... Hidden>
void check(t::test_mesh const& m, t::extents_by_letter const& e, os::dims<Weights...>, os::dims<Use...>,
           os::dims<Data...>, os::dims<Hidden...>) {
  whole x = t::whole_numbers<double>("BI", e, 3), w = t::whole_numbers<double>("IJ", e, 5);
  for (double& v : x.values) v *= 0.05;
  for (double& v : w.values) v *= 0.1;
  auto const data = t::placed<os::tensor<double, Data...>>(m, x);
  auto const weights = t::placed<os::tensor<double, Weights...>>(m, w);
  auto const loss = [](auto const& p, auto const& batch) {
    auto const h = os::map(tanh_{}, os::einsum<Hidden...>(batch, os::reshard<Use...>(p)));
    return os::sum<>(os::multiply(h, h));
  };
  auto const r = os::value_and_grad(loss)(weights, data);
  expected const want = by_loops(x, w, e);
  INFO(m.text(), t::text_of(e));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(r.gradient)>, os::tensor<double, Weights...>>);
  CHECK(close(os::value(r.value), want.value));
  CHECK(close(os::value(loss(weights, data)), want.value));
  CHECK(t::disagreements(m, r.gradient, want.gradient, close) == 0);
}

}  // namespace

TEST_CASE("a layer under the rules of the literature") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using os::dims;
      check(m, e, dims<I, J>{}, dims<I, J>{}, dims<B, I>{}, dims<B, J>{});              // one device's program
      check(m, e, dims<I, J>{}, dims<I, J>{}, dims<B/X, I>{}, dims<B/X, J>{});          // data parallel
      check(m, e, dims<I/X, J>{}, dims<I, J>{}, dims<B/X, I>{}, dims<B/X, J>{});        // fully sharded
      check(m, e, dims<I, J/X>{}, dims<I, J/X>{}, dims<B, I>{}, dims<B, J/X>{});        // columns
      check(m, e, dims<I/X, J>{}, dims<I/X, J>{}, dims<B, I/X>{}, dims<B, J>{});        // rows
      check(m, e, dims<I/X, J/Y>{}, dims<I/X, J/Y>{}, dims<B/X, I/Y>{}, dims<B/X, J/Y>{});  // two-dimensional
    }
  });
}

namespace {

struct cube {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x) const {
    return x * x * x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T x) const {
    return 3 * x * x;
  }
};

// x / (1 + y²)
struct damped {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x, T y) const {
    return x / (1 + y * y);
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T x, T y) const {
    T const d = 1 + y * y;
    return K == 0 ? 1 / d : -2 * x * y / (d * d);
  }
};

}  // namespace

TEST_CASE("arithmetic, maps, repeated axes, fan-out, loops and means, by differences") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 3}, {'J', 4}, {'K', 2}, {'L', 2}};
    INFO(m.text());
    auto const row = t::placed<os::tensor<double, J/Y>>(m, t::whole_numbers<double>("J", e, 2));
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      auto const q = p * row + 0.5 * -p;
      auto const s = q / (os::map(cube{}, row) + 30.0) - os::map(damped{}, p, row);
      return os::sum<>(os::multiply(s, p));
    });
    t::check_by_differences<os::tensor<double, J/X>>(m, e, "J", [&](auto const& p) {  // repeated along I in both
      auto const x = t::placed<os::tensor<double, I/Y, J/X>>(m, t::whole_numbers<double>("IJ", e, 4));
      return os::mean<>(os::map(damped{}, os::add(x, p), os::divide(2.0, os::add(os::multiply(p, p), 1.0))));
    });
    t::check_by_differences<os::tensor<double, I, J/X>>(m, e, "IJ", [&](auto const& p) {  // labels of one operand alone
      auto const total = os::sum<I/Y>(p);
      return os::einsum<>(total, total, os::mean<J>(p), os::sum_over(J));
    });
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {  // a loop, and moves
      auto const gathered = os::reshard<I, J>(p);
      std::conditional_t<os::is_variable<std::remove_cvref_t<decltype(p)>>, os::variable<os::tensor<double, I, J>>,
                         os::tensor<double, I, J>>
          y = gathered;  // its cotangents have another layout: the loop has one type
      for (int k = 0; k < 3; ++k) y = os::add(os::scale(y, 0.5), k == 1 ? y : os::multiply(y, y));
      return os::sum<>(os::multiply(os::rename<I, K>(os::reshard<I/Y, J>(p)), os::rename<I, K>(y)));
    });
  });
}

TEST_CASE("what is not used has the gradient zero, and constants stop it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 3}};
    auto const g = t::whole_numbers<double>("IJ", e, 1);
    auto const p = t::placed<os::tensor<double, I/X, J>>(m, g);
    whole zero = g;
    for (double& v : zero.values) v = 0;
    auto const unused = os::value_and_grad([&](auto const&) { return os::sum<>(p); })(p);
    CHECK(t::disagreements(m, unused.gradient, zero) == 0);
    auto const stopped =
        os::value_and_grad([](auto const& x) { return os::sum<>(os::multiply(x, os::stop_gradient(x))); })(p);
    CHECK(t::disagreements(m, stopped.gradient, g) == 0);  // x · x with one of them held
  });
}

TEST_CASE("the backward of a gathered weight is one reduce-scatter") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") < 2 || t::ranks() != m.size("X")) return;
    t::extents_by_letter const e{{'B', 8 * t::ranks()}, {'I', 4 * t::ranks()}, {'J', 6}};
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, t::whole_numbers<double>("BI", e, 1));
    auto const loss = [](auto const& p, auto const& batch) {
      return os::sum<>(os::einsum<B/X, J>(batch, os::reshard<I, J>(p)));
    };
    auto const n = static_cast<std::int64_t>(t::ranks());
    std::int64_t const weights = e.at('I') * e.at('J') * 8;
    auto const forward = t::traffic_of([&] { (void)loss(w, x); });
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(w, x); });
    CHECK(forward.bytes == (n - 1) * weights + 2 * (n - 1) * 8);  // a gather, and the sum of one number
    CHECK(both.bytes - forward.bytes == (n - 1) * weights);       // and no more than a reduce-scatter
  });
}

namespace {

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> w;
  os::leaf<L, double, J> b;
};

template <class L>
struct network {
  layer<L> first;
  std::vector<os::leaf<L, double, J/Y>> gains;
};

}  // namespace

TEST_CASE("trees of parameters, whose gradients share nothing") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 4}, {'I', 3}, {'J', 5}};
    INFO(m.text());
    auto const w = t::whole_numbers<double>("IJ", e, 3), x = t::whole_numbers<double>("BI", e, 5);
    auto const b = t::whole_numbers<double>("J", e, 2);
    using row = os::tensor<double, J/Y>;
    network<os::values> p{{t::placed<os::tensor<double, I/X, J>>(m, w), t::placed<os::tensor<double, J>>(m, b)},
                          {t::placed<row>(m, b), t::placed<row>(m, b), t::placed<row>(m, b)}};
    auto const data = t::placed<os::tensor<double, B/X, I>>(m, x);
    auto const loss = [](auto const& q, auto const& batch) {
      auto const h = os::einsum<B/X, J>(batch, os::reshard<I, J>(q.first.w)) + q.first.b;
      return os::sum<>(h) + os::sum<>(q.gains[0] + q.gains[1]);
    };
    auto const r = os::value_and_grad(loss)(p, data);
    network<os::values> const& g = r.gradient;
    auto want_w = w;
    auto want_b = b, ones = b, zeros = b;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 5; ++j) {
        want_w.values[i * 5 + j] = 0;
        for (std::size_t s = 0; s < 4; ++s) want_w.values[i * 5 + j] += x.values[s * 3 + i];
      }
    for (std::size_t j = 0; j < 5; ++j) want_b.values[j] = 4, ones.values[j] = 1, zeros.values[j] = 0;
    CHECK(t::disagreements(m, g.first.w, want_w) == 0);
    CHECK(t::disagreements(m, g.first.b, want_b) == 0);
    REQUIRE(g.gains.size() == 3);
    os::map_into(g.gains[0], seven_times{}, g.gains[0]);
    CHECK(t::disagreements(m, g.gains[1], ones) == 0);  // unchanged by the write to its neighbour
    CHECK(t::disagreements(m, g.gains[2], zeros) == 0);
  });
}

namespace {

template <class L>
struct weights_alone {
  os::leaf<L, double, I/X, J> w;
};

}  // namespace

TEST_CASE("what is saved in a loss is its values") {
  t::scratch_file const array("a.npy"), tree("p.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    auto const g = t::whole_numbers<double>("IJ", e, 3);
    weights_alone<os::values> const p{t::placed<os::tensor<double, I/X, J>>(m, g)};
    static_cast<void>(os::value_and_grad([&](auto const& q) {
      os::save(tree.path(), q);
      os::save(array.path(), q.w);
      return os::sum<>(q.w);
    })(p));
    auto const loaded = os::zeros_like(p.w);
    weights_alone<os::values> const of_tree{os::zeros_like(p.w)};
    os::load_into(loaded, array.path());
    os::load_into(of_tree, tree.path());
    CHECK(t::disagreements(m, loaded, g) == 0);
    CHECK(t::disagreements(m, of_tree.w, g) == 0);
  });
}

TEST_CASE("what a function gives beside its loss") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 3}};
    INFO(m.text());
    auto const g = t::whole_numbers<double>("IJ", e, 1);
    auto const p = t::placed<os::tensor<double, I/X, J>>(m, g);
    auto want = g, doubled = g;
    for (double& v : want.values) v *= 2;
    doubled = want;
    auto const [value, gradient, aux] = os::value_and_grad([](auto const& x) {
      auto const y = x * x;
      return std::tuple(os::sum<>(y), y);
    })(p);
    for (std::size_t i = 0; i < want.values.size(); ++i) want.values[i] = g.values[i] * g.values[i];
    CHECK(t::disagreements(m, aux, want) == 0);
    CHECK(t::disagreements(m, gradient, doubled) == 0);
    auto const more = os::value_and_grad([](auto const& x) { return std::tuple(os::sum<>(x * x), 3, x); })(p);
    CHECK(std::get<0>(more.aux) == 3);
    CHECK(t::disagreements(m, std::get<1>(more.aux), g) == 0);
    CHECK(os::value(more.value) == os::value(value));
  });
}
