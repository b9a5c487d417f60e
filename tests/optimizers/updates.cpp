// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Optimisers against plain loops after the published formulas: parameters that are whole and divided, states in their
/// sharding and divided further, gradients that are whole and partial; the bytes of a step.
// ranks: 1 2 4 6
// gpu: 2

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/optimizers.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using whole = t::global_tensor<double>;

// Values that are no whole numbers, and some zeros.
whole numbers(std::string const& labels, t::extents_by_letter const& e, std::uint64_t salt) {
  whole g = t::whole_numbers<double>(labels, e, salt);
  for (double& x : g.values) x *= 0.173;
  return g;
}

bool agree(double got, double want) { return std::abs(got - want) <= 1e-13 * (1 + std::abs(want)); }

// One parameter as the papers have it.
struct by_loops {
  std::vector<double> p, m, v;
  explicit by_loops(whole const& start) : p(start.values), m(p.size(), 0.0), v(p.size(), 0.0) {}

  void adam(std::vector<double> const& g, int step, double rate, double decay) {
    double const b1 = 0.9, b2 = 0.99, epsilon = 1e-3;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      double const mean = m[i] / (1 - std::pow(b1, step)), square = v[i] / (1 - std::pow(b2, step));
      p[i] -= rate * (mean / (std::sqrt(square) + epsilon) + decay * p[i]);
    }
  }
  void momentum(std::vector<double> const& g, double rate, bool nesterov, double decay) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      double const slope = g[i] + decay * p[i];
      m[i] = 0.8 * m[i] + slope;
      p[i] -= rate * (nesterov ? slope + 0.8 * m[i] : m[i]);
    }
  }
  void sgd(std::vector<double> const& g, double rate, double decay) {
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate * (g[i] + decay * p[i]);
  }
};

double falling(std::int64_t step) { return 0.1 / (1.0 + static_cast<double>(step)); }

constexpr int steps = 4;

// So many steps of an optimiser from the same start, and of its loops: `loops(oracle, gradient, step)`.
template <class Parameter, class Gradient, class Optimizer, class Loops, class... Split>
auto train(t::test_mesh const& m, t::extents_by_letter const& e, Optimizer const& optimizer, Loops const& loops,
           Split const&... split) {
  std::string const letters = t::letters_in<Parameter>();
  auto const start = numbers(letters, e, 3);
  auto const p = t::placed<Parameter>(m, start);
  auto const state = optimizer.init(p, split...);
  by_loops want(start);
  for (int k = 0; k < steps; ++k) {
    auto const g = numbers(letters, e, static_cast<std::uint64_t>(k) + 10);
    optimizer.update(p, t::placed<Gradient>(m, g), state);
    loops(want, g.values, k);
  }
  INFO(m.text(), t::text_of(e));
  CHECK(t::disagreements(m, p, whole{letters, e, want.p}, agree) == 0);
  CHECK((m.handle()->absent() || os::value(state.steps) == steps));
  return std::pair(state, want);
}

os::adamw const weighted{.learning_rate = falling, .beta2 = 0.99, .epsilon = 1e-3, .weight_decay = 0.3};
auto const weighted_loops = [](by_loops& want, std::vector<double> const& g, int k) {
  want.adam(g, k + 1, falling(k), 0.3);
};

}  // namespace

TEST_CASE("every optimiser") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using p = os::tensor<double, I/X, J>;
      train<p, p>(m, e, os::sgd{.learning_rate = falling, .weight_decay = 0.2},
                  [](by_loops& want, auto const& g, int k) { want.sgd(g, falling(k), 0.2); });
      for (bool nesterov : {false, true})
        train<p, p>(m, e, os::momentum{.learning_rate = 0.05, .beta = 0.8, .nesterov = nesterov, .weight_decay = 0.1},
                    [&](by_loops& want, auto const& g, int) { want.momentum(g, 0.05, nesterov, 0.1); });
      train<p, p>(m, e, os::adam{.learning_rate = 0.02, .beta2 = 0.99, .epsilon = 1e-3},
                  [](by_loops& want, auto const& g, int k) { want.adam(g, k + 1, 0.02, 0); });
      train<p, p>(m, e, weighted, weighted_loops);
    }
  });
}

TEST_CASE("states that are divided further, and partial gradients") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using p = os::tensor<double, I, J/Y>;
      using partial = os::tensor<double, I, J/Y, os::partial(X)>;
      train<p, partial>(m, e, weighted, weighted_loops);
      auto const [state, want] = train<p, p>(m, e, weighted, weighted_loops, os::split_over<X>);
      static_assert(std::is_same_v<decltype(state.m), os::tensor<double, I/X, J/Y>>);
      CHECK(t::disagreements(m, state.m, whole{"IJ", e, want.m}, agree) == 0);
      CHECK(t::disagreements(m, state.v, whole{"IJ", e, want.v}, agree) == 0);
      train<p, partial>(m, e, weighted, weighted_loops, os::split_over<X>);
      train<p, os::tensor<double, I, J, os::partial(X, Y)>>(m, e, weighted, weighted_loops, os::split_over<X>);
      train<p, p>(
          m, e, os::momentum{.learning_rate = 0.05, .beta = 0.8},
          [](by_loops& w, auto const& g, int) { w.momentum(g, 0.05, false, 0); }, os::split_over<X, Y>);
    }
  });
}

OSTRAKA_AXIS(short_axis, 4);
OSTRAKA_AXIS(long_axis, os::about(512));

// The axis of a state that is divided. At namespace scope: nvcc cannot name these types in a function.
namespace divided_axis {
using os::sharding_of;
using os::detail::split_further;
using x = X_mesh;
using y = Y_mesh;
static_assert(std::is_same_v<split_further<sharding_of<I, J>, x>::type, sharding_of<I/X, J>>);
static_assert(std::is_same_v<split_further<sharding_of<I, J>, x, y>::type, sharding_of<I/X, J/Y>>);
static_assert(std::is_same_v<split_further<sharding_of<I/X, J>, x>::type, sharding_of<I/X, J>>);  // is already
static_assert(
    std::is_same_v<split_further<sharding_of<I/Y, J>, x>::type, sharding_of<I/Y, J/X>>);  // longer on a device
static_assert(std::is_same_v<split_further<sharding_of<I/Y>, x>::type, sharding_of<I/Y/X>>);
static_assert(
    std::is_same_v<split_further<sharding_of<short_axis, long_axis>, x>::type, sharding_of<short_axis, long_axis/X>>);
static_assert(std::is_same_v<split_further<sharding_of<>, x>::type, sharding_of<>>);
}  // namespace divided_axis

TEST_CASE("what a step with a divided state moves: a reduce-scatter and a gather") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    if (n < 2 || t::ranks() != n) return;
    t::extents_by_letter const e{{'I', 4 * n}, {'J', 6}};
    std::int64_t const bytes = e.at('I') * e.at('J') * 8;
    auto const p = t::placed<os::tensor<double, I, J>>(m, numbers("IJ", e, 1));
    auto const g = t::placed<os::tensor<double, I, J, os::partial(X)>>(m, numbers("IJ", e, 2));
    auto const divided = weighted.init(p, os::split_over<X>);
    CHECK(t::traffic_of([&] { weighted.update(p, g, divided); }).bytes == 2 * bytes * (n - 1));
    CHECK(t::traffic_of([&] { weighted.update(p, os::all_reduce<X>(g), divided); }).bytes == 3 * bytes * (n - 1));
    auto const same = weighted.init(p);
    auto const reduced = os::all_reduce<X>(g);
    CHECK(t::traffic_of([&] { weighted.update(p, reduced, same); }).calls == 0);
    CHECK(static_cast<std::int64_t>(divided.m.local().size()) * n == static_cast<std::int64_t>(same.m.local().size()));
  });
}

namespace {

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> weight;
  os::leaf<L, double, J> bias;
};

template <class L>
struct network {
  std::vector<layer<L>> layers;
  os::leaf<L, os::bfloat16, K> scale;
  int heads = 3;
};

}  // namespace

TEST_CASE("trees, of which some leaves do not decay") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 70}, {'K', 130}};  // runs of neighbours, and a remainder
    os::adamw optimizer = weighted;
    optimizer.decays = [](std::string_view path, int rank) {
      return os::decays_matrices(path, rank) && path != "layers[1].weight";
    };
    network<os::values> p, g;
    t::global_tensor<os::bfloat16> const scale = t::whole_numbers<os::bfloat16>("K", e, 1),
                                         slope = t::whole_numbers<os::bfloat16>("K", e, 2);
    for (std::uint64_t l = 0; l < 2; ++l) {
      p.layers.push_back({t::placed<os::tensor<double, I/X, J>>(m, numbers("IJ", e, l)),
                          t::placed<os::tensor<double, J>>(m, numbers("J", e, l))});
      g.layers.push_back({t::placed<os::tensor<double, I/X, J>>(m, numbers("IJ", e, l + 4)),
                          t::placed<os::tensor<double, J>>(m, numbers("J", e, l + 4))});
    }
    p.scale = t::placed<os::tensor<os::bfloat16, K>>(m, scale);
    g.scale = t::placed<os::tensor<os::bfloat16, K>>(m, slope);
    auto const state = optimizer.init(p, os::split_over<Y>);
    static_assert(std::is_same_v<decltype(state.v.scale), os::tensor<float, K/Y>>);
    CHECK(os::count_leaves(state) == 11);
    CHECK(state.m.heads == 3);
    optimizer.update(p, g, state);
    INFO(m.text());
    for (std::uint64_t l = 0; l < 2; ++l) {
      by_loops weight(numbers("IJ", e, l)), bias(numbers("J", e, l));
      weight.adam(numbers("IJ", e, l + 4).values, 1, 0.1, l == 1 ? 0 : 0.3);
      bias.adam(numbers("J", e, l + 4).values, 1, 0.1, 0);
      CHECK(t::disagreements(m, p.layers[l].weight, whole{"IJ", e, weight.p}, agree) == 0);
      CHECK(t::disagreements(m, p.layers[l].bias, whole{"J", e, bias.p}, agree) == 0);
    }
    t::global_tensor<os::bfloat16> want = scale;
    for (std::size_t k = 0; k < want.values.size(); ++k) {
      by_loops one(whole{"K", {{'K', 1}}, {double(float(scale.values[k]))}});
      one.adam({double(float(slope.values[k]))}, 1, 0.1, 0);
      want.values[k] = os::bfloat16(float(one.p[0]));
    }
    CHECK(t::disagreements(m, p.scale, want, [](os::bfloat16 got, os::bfloat16 w) {
            return std::abs(float(got) - float(w)) <= 0.01f * (1 + std::abs(float(w)));
          }) == 0);
    network<os::values> shorter = g;
    shorter.layers.pop_back();
    CHECK_THROWS_AS(optimizer.update(p, shorter, state), os::error);
    CHECK_THROWS_AS((void)optimizer.init(std::vector<layer<os::values>>{}), os::error);
    CHECK_THROWS_AS((void)optimizer.init(network<os::values>{}), os::error);
  });
}

TEST_CASE("a run goes on from a file as if it had not stopped, its state divided otherwise") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 7}};
    auto const fresh = [&] {
      return layer<os::values>{t::placed<os::tensor<double, I/X, J>>(m, numbers("IJ", e, 1)),
                               t::placed<os::tensor<double, J>>(m, numbers("J", e, 1))};
    };
    auto const train = [&](auto& p, auto& state, std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t k = from; k < to; ++k)
        weighted.update(p,
                        layer<os::values>{t::placed<os::tensor<double, I/X, J>>(m, numbers("IJ", e, 10 + k)),
                                          t::placed<os::tensor<double, J>>(m, numbers("J", e, 10 + k))},
                        state);
    };
    auto through = fresh(), stopped = fresh(), resumed = fresh();
    auto of_through = weighted.init(through), of_stopped = weighted.init(stopped);
    auto of_resumed = weighted.init(resumed, os::split_over<Y>);
    train(through, of_through, 0, 5);
    train(stopped, of_stopped, 0, 3);
    t::scratch_file const file("optimizer.safetensors");
    os::save(file.path(), os::together("model", stopped, "optimizer", of_stopped));
    os::load_into(os::together("model", resumed, "optimizer", of_resumed), file.path());
    train(resumed, of_resumed, 3, 5);
    INFO(m.text());
    auto const differ = [](auto const& a, auto const& b) { return os::subtract(a, b); };
    CHECK(os::global_norm(os::tree_map(differ, resumed, through)) == 0);
    CHECK(os::value(of_resumed.steps) == 5);
  });
}

TEST_CASE("16-bit parameters: small gradients are not forgotten") {
  t::test_mesh const m(t::mesh_shapes().front());
  t::extents_by_letter const e{{'I', 3}};
  t::global_tensor<os::bfloat16> g{"I", e, std::vector<os::bfloat16>(3, os::bfloat16(0.01f))};
  auto const p = t::placed<os::tensor<os::bfloat16, I>>(m, g);
  os::adam const optimizer{.learning_rate = 0.0};
  auto const state = optimizer.init(p);
  for (int k = 0; k < 2000; ++k) optimizer.update(p, p, state);
  float const g0 = float(g.values[0]);
  t::global_tensor<float> const want{"I", e, std::vector<float>(3, g0 * g0 * (1 - std::pow(0.999f, 2000.f)))};
  CHECK(t::disagreements(m, state.v, want, [](float got, float w) { return std::abs(got - w) <= 1e-3f * w; }) == 0);
}

TEST_CASE("schedules") {
  os::schedule const constant = 0.5;
  CHECK(constant(0) == 0.5);
  CHECK(constant(1'000'000) == 0.5);
  os::linear_decay const line{.from = 1, .to = 0.2, .steps = 8};
  CHECK(line(0) == 1);
  CHECK(line(4) == doctest::Approx(0.6));
  CHECK(line(8) == doctest::Approx(0.2));
  CHECK(line(99) == doctest::Approx(0.2));
  os::cosine_decay const cosine{.from = 1, .to = 0.2, .steps = 8};
  CHECK(cosine(0) == 1);
  CHECK(cosine(2) == doctest::Approx(0.2 + 0.8 * 0.5 * (1 + std::sqrt(0.5))));
  CHECK(cosine(4) == doctest::Approx(0.6));
  CHECK(cosine(8) == doctest::Approx(0.2));
  CHECK(cosine(99) == doctest::Approx(0.2));
  os::exponential_decay const power{.from = 2, .factor = 0.25, .steps = 4, .to = 0.1};
  CHECK(power(0) == 2);
  CHECK(power(2) == doctest::Approx(1));
  CHECK(power(4) == doctest::Approx(0.5));
  CHECK(power(1000) == 0.1);
  os::step_decay const stairs{.from = 2, .factor = 0.5, .steps = 10};
  CHECK(stairs(9) == 2);
  CHECK(stairs(10) == 1);
  CHECK(stairs(29) == 0.5);
  os::schedule const both = os::warm_up{.steps = 4, .from = 0.1, .then = line};
  CHECK(both(0) == doctest::Approx(0.1));
  CHECK(both(2) == doctest::Approx(0.55));
  CHECK(both(4) == 1);
  CHECK(both(8) == doctest::Approx(0.6));
  CHECK(os::warm_up{.steps = 0, .then = 3.0}(0) == 3);
  CHECK(os::linear_decay{.from = 1, .to = 2, .steps = 0}(0) == 2);
}
