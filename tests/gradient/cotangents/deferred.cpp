// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Gradients that stay partial: those of microbatches are added up and reduced once, which is counted; and gradients
/// that are kept divided while parameters are whole. Against plain loops over all microbatches.
// ranks: 1 2 4 6
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

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

template <class L>
struct layer {
  os::leaf<L, double, I, J/Y> weight;
  os::leaf<L, double, J/Y> bias;
  os::leaf<L, double, I/X> scale;  // also divided over the mesh axis that divides microbatches
  os::leaf<L, double, I> unused;
};

// Σ tanh((x · scale) weight + bias)
auto const loss = [](auto const& p, auto const& x) {
  auto const scaled = os::multiply(x, os::reshard<I>(p.scale));
  return os::sum<>(os::map(tanh_{}, os::add(os::einsum<B/X, J/Y>(scaled, p.weight), p.bias)));
};

using whole = t::global_tensor<double>;

struct problem {
  t::extents_by_letter e;
  whole weight, bias, scale;
  std::vector<whole> batches;
  whole of_weight, of_bias, of_scale, of_unused;

  explicit problem(t::extents_by_letter const& extents)
      : e(extents),
        weight(t::whole_numbers<double>("IJ", e, 1)),
        bias(t::whole_numbers<double>("J", e, 2)),
        scale(t::whole_numbers<double>("I", e, 3)) {
    for (double& v : weight.values) v *= 0.05;
    for (std::uint64_t k = 0; k < 4; ++k) batches.push_back(t::whole_numbers<double>("BI", e, 4 + k));
    of_weight = weight, of_bias = bias, of_scale = scale;
    for (whole* g : {&of_weight, &of_bias, &of_scale})
      for (double& v : g->values) v = 0;
    of_unused = of_scale;
    for (whole const& x : batches) differentiate(x);
  }

  void differentiate(whole const& x) {
    auto const n = static_cast<std::size_t>(e.at('I')), m = static_cast<std::size_t>(e.at('J'));
    for (std::size_t s = 0; s < static_cast<std::size_t>(e.at('B')); ++s)
      for (std::size_t j = 0; j < m; ++j) {
        double sum = bias.values[j];
        for (std::size_t i = 0; i < n; ++i) sum += x.values[s * n + i] * scale.values[i] * weight.values[i * m + j];
        double const slope = 1 - std::tanh(sum) * std::tanh(sum);
        of_bias.values[j] += slope;
        for (std::size_t i = 0; i < n; ++i) {
          of_weight.values[i * m + j] += slope * x.values[s * n + i] * scale.values[i];
          of_scale.values[i] += slope * x.values[s * n + i] * weight.values[i * m + j];
        }
      }
  }

  [[nodiscard]] layer<os::values> parameters(t::test_mesh const& m) const {
    return {t::placed<os::tensor<double, I, J/Y>>(m, weight), t::placed<os::tensor<double, J/Y>>(m, bias),
            t::placed<os::tensor<double, I/X>>(m, scale), t::placed<os::tensor<double, I>>(m, of_unused)};
  }
  [[nodiscard]] auto batch(t::test_mesh const& m, std::size_t k) const {
    return t::placed<os::tensor<double, B/X, I>>(m, batches[k]);
  }
};

bool agree(double got, double want) { return std::abs(got - want) <= 1e-12 * (1 + std::abs(want)); }

template <class Layer>
void check(t::test_mesh const& m, problem const& p, Layer const& g) {
  INFO(m.text(), t::text_of(p.e));
  CHECK(t::disagreements(m, g.weight, p.of_weight, agree) == 0);
  CHECK(t::disagreements(m, g.bias, p.of_bias, agree) == 0);
  CHECK(t::disagreements(m, g.scale, p.of_scale, agree) == 0);
  CHECK(t::disagreements(m, g.unused, p.of_unused) == 0);
}

// The sum of the gradients of all microbatches.
template <class Step>
auto summed(t::test_mesh const& m, problem const& p, layer<os::values> const& parameters, Step const& step) {
  auto const sum = step(parameters, p.batch(m, 0)).gradient;
  for (std::size_t k = 1; k < 4; ++k) os::accumulate(sum, step(parameters, p.batch(m, k)).gradient);
  return sum;
}

}  // namespace

TEST_CASE("partial gradients of microbatches are the gradient of all of them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      problem const p(e);
      auto const parameters = p.parameters(m);
      auto const kept = summed(m, p, parameters, os::value_and_grad<os::deferred_over<X>>(loss));
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(kept)>, layer<os::deferred_over<X>>>);
      static_assert(std::is_same_v<decltype(kept.weight), os::tensor<double, I, J/Y, os::partial(X)>>);
      static_assert(std::is_same_v<decltype(kept.scale), os::tensor<double, I/X>>);
      check(m, p, kept);
      check(m, p, os::tree_reshard<os::values>(kept));
      auto const gathered = summed(m, p, parameters, os::value_and_grad<os::gathered_and_deferred_over<X>>(loss));
      static_assert(std::is_same_v<decltype(gathered.scale), os::tensor<double, I, os::partial(X)>>);
      check(m, p, gathered);
      layer<os::values> const reduced = os::tree_reshard<os::values>(gathered);
      check(m, p, reduced);
      auto const divided = summed(m, p, parameters, os::value_and_grad<os::divided_over<X>>(loss));
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(divided)>, layer<os::divided_over<X>>>);
      static_assert(std::is_same_v<decltype(divided.weight), os::tensor<double, I/X, J/Y>>);
      static_assert(std::is_same_v<decltype(divided.bias), os::tensor<double, J/Y/X>>);
      static_assert(std::is_same_v<decltype(divided.scale), os::tensor<double, I/X>>);
      check(m, p, divided);
    }
  });
}

TEST_CASE("through a region that is computed again") {
  t::on_every_mesh([](t::test_mesh const& m) {
    problem const p({{'B', 6}, {'I', 5}, {'J', 4}});
    auto const again = [](auto const& q, auto const& x) { return os::checkpoint(loss)(q, x); };
    auto const kept = summed(m, p, p.parameters(m), os::value_and_grad<os::deferred_over<X>>(again));
    static_assert(std::is_same_v<decltype(kept.weight), os::tensor<double, I, J/Y, os::partial(X)>>);
    check(m, p, kept);
  });
}

TEST_CASE("what every device computes alike counts once") {
  t::on_every_mesh([](t::test_mesh const& m) {
    problem p({{'B', 6}, {'I', 5}, {'J', 4}});
    auto const penalised = [](auto const& q, auto const& x) {
      return os::add(loss(q, x),
                     os::add(os::sum<>(os::multiply(q.weight, q.weight)), os::sum<>(os::scale(q.bias, 3.0))));
    };
    auto const kept = summed(m, p, p.parameters(m), os::value_and_grad<os::deferred_over<X>>(penalised));
    for (std::size_t i = 0; i < p.weight.values.size(); ++i) p.of_weight.values[i] += 4 * 2 * p.weight.values[i];
    for (double& g : p.of_bias.values) g += 4 * 3;
    check(m, p, kept);
  });
}

TEST_CASE("a tensor's gradient has the dimensions that are named") {
  t::on_every_mesh([](t::test_mesh const& m) {
    problem const p({{'B', 6}, {'I', 5}, {'J', 4}});
    auto const parameters = p.parameters(m);
    auto const of_weight = [&](auto const& w, auto const& x) {
      return os::sum<>(os::map(
          tanh_{},
          os::add(os::einsum<B/X, J/Y>(os::multiply(x, os::reshard<I>(parameters.scale)), w), parameters.bias)));
    };
    auto const step = os::value_and_grad<os::dims<I, J, os::partial(X, Y)>>(of_weight);
    auto const sum = step(parameters.weight, p.batch(m, 0)).gradient;
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(sum)>, os::tensor<double, I, J, os::partial(X, Y)>>);
    for (std::size_t k = 1; k < 4; ++k) os::accumulate(sum, step(parameters.weight, p.batch(m, k)).gradient);
    CHECK(t::disagreements(m, sum, p.of_weight, agree) == 0);
  });
}

TEST_CASE("of a parameter that is the loss itself") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{};
    whole const five{"", e, {5}}, one{"", e, {1}};
    auto const p = t::placed<os::tensor<double>>(m, five);
    auto const itself = [](auto const& q) { return q; };
    auto const r = os::value_and_grad(itself)(p);
    auto const later = os::value_and_grad<os::deferred_over<X>>(itself)(p);
    static_assert(std::is_same_v<std::remove_const_t<decltype(later.gradient)>, os::tensor<double, os::partial(X)>>);
    auto const of_constant = os::value_and_grad([&](auto const&) { return p; })(p);
    os::accumulate(p, r.gradient);  // the parameter is changed, the values of the loss are not
    INFO(m.text());
    CHECK(t::disagreements(m, p, whole{"", e, {6}}) == 0);
    for (auto const& value : {r.value, later.value, of_constant.value}) CHECK(t::disagreements(m, value, five) == 0);
    CHECK(t::disagreements(m, r.gradient, one) == 0);
    CHECK(t::disagreements(m, later.gradient, one) == 0);
  });
}

TEST_CASE("of parameters that are partial themselves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 6}, {'I', 5}};
    whole const at = t::whole_numbers<double>("I", e, 1), data = t::whole_numbers<double>("BI", e, 2);
    whole want{"I", e, std::vector<double>(5, 0.0)};
    for (std::size_t s = 0; s < 6; ++s)
      for (std::size_t i = 0; i < 5; ++i) want.values[i] += data.values[5 * s + i];
    auto const x = t::placed<os::tensor<double, B/X, I>>(m, data);
    auto const f = [&](auto const& q) { return os::sum<>(os::multiply(x, os::reshard<I>(q))); };
    auto const along_x = t::placed<os::tensor<double, I, os::partial(X)>>(m, at);
    auto const along_y = t::placed<os::tensor<double, I, os::partial(Y)>>(m, at);
    auto const of_x = os::value_and_grad<os::deferred_over<X>>(f)(along_x).gradient;
    auto const of_y = os::value_and_grad<os::gathered_and_deferred_over<X>>(f)(along_y).gradient;
    static_assert(std::is_same_v<std::remove_const_t<decltype(of_x)>, os::tensor<double, I, os::partial(X)>>);
    static_assert(std::is_same_v<std::remove_const_t<decltype(of_y)>, os::tensor<double, I, os::partial(X)>>);
    INFO(m.text());
    CHECK(t::disagreements(m, of_x, want) == 0);
    CHECK(t::disagreements(m, of_y, want) == 0);
  });
}

namespace {

template <class L>
struct weights {
  os::leaf<L, double, I, J> first;
  os::leaf<L, double, J> second;
};

void check_same(weights<os::values> const& a, weights<os::values> const& b) {
  weights<os::values> const difference{os::subtract(a.first, b.first), os::subtract(a.second, b.second)};
  CHECK(os::global_norm(difference) <= 1e-12 * os::global_norm(a));
}

}  // namespace

TEST_CASE("four microbatches are reduced once") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    if (n < 2 || t::ranks() != n) return;
    problem const p({{'B', 2 * n}, {'I', 3 * n}, {'J', 4 * n}});
    weights<os::values> const parameters{t::placed<os::tensor<double, I, J>>(m, p.weight),
                                         t::placed<os::tensor<double, J>>(m, p.bias)};
    auto const f = [](auto const& q, auto const& x) {
      return os::sum<>(os::map(tanh_{}, os::add(os::einsum<B/X, J>(x, q.first), q.second)));
    };
    std::array<os::tensor<double, B/X, I>, 4> batches;
    for (std::size_t k = 0; k < 4; ++k) batches[k] = p.batch(m, k);
    auto const losses = t::traffic_of([&] {
      for (auto const& x : batches) (void)f(parameters, x);
    });
    std::int64_t const one_reduction = 2 * (n - 1) * (p.e.at('I') + 1) * p.e.at('J') * 8;

    weights<os::values> each, once;
    auto const now = t::traffic_of([&] {
      auto const step = os::value_and_grad(f);
      each = step(parameters, batches[0]).gradient;
      for (std::size_t k = 1; k < 4; ++k) os::accumulate(each, step(parameters, batches[k]).gradient);
    });
    CHECK(now.bytes - losses.bytes == 4 * one_reduction);
    CHECK(now.calls - losses.calls == 4 * 2 * n);

    auto const later = t::traffic_of([&] {
      auto const step = os::value_and_grad<os::deferred_over<X>>(f);
      weights<os::deferred_over<X>> const sum = step(parameters, batches[0]).gradient;
      for (std::size_t k = 1; k < 4; ++k) os::accumulate(sum, step(parameters, batches[k]).gradient);
      once = os::tree_reshard<os::values>(sum);
    });
    CHECK(later.bytes - losses.bytes == one_reduction);
    CHECK(later.calls - losses.calls == 2 * n);  // one for each leaf
    check_same(each, once);

    // Gradients that are kept divided: each microbatch is reduce-scattered.
    weights<os::divided_over<X>> divided;
    auto const scattered = t::traffic_of([&] {
      auto const step = os::value_and_grad<os::divided_over<X>>(f);
      divided = step(parameters, batches[0]).gradient;
      for (std::size_t k = 1; k < 4; ++k) os::accumulate(divided, step(parameters, batches[k]).gradient);
    });
    CHECK(scattered.bytes - losses.bytes == 4 * one_reduction / 2);
    CHECK(divided.first.local().size() * static_cast<std::size_t>(n) == p.weight.values.size());
    CHECK(divided.second.local().size() * static_cast<std::size_t>(n) == p.bias.values.size());
    check_same(each, os::tree_reshard<os::values>(divided));

    // Straight into a state that is divided: half of that, and the parameters' gathers.
    os::adam const optimizer;
    auto const state = optimizer.init(parameters, os::split_over<X>);
    auto const all = t::traffic_of([&] {
      auto const step = os::value_and_grad<os::deferred_over<X>>(f);
      auto const sum = step(parameters, batches[0]).gradient;
      for (std::size_t k = 1; k < 4; ++k) os::accumulate(sum, step(parameters, batches[k]).gradient);
      optimizer.update(parameters, sum, state);
    });
    CHECK(all.bytes - losses.bytes == one_reduction);
    auto const updated = t::traffic_of([&] { optimizer.update(parameters, divided, state); });
    CHECK(updated.bytes == one_reduction / 2);  // the parameters' gathers
  });
}
