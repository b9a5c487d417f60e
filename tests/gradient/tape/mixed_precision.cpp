// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Parameters in float, with computations in 16 bits: they are cast before they are gathered, which halves the bytes in
/// both directions; gradients come back in float.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class L>
struct layer {
  os::leaf<L, float, I/X, J> weight;
  os::leaf<L, float, J> bias;
};

// Σ (x w + b), in the element type of p.
auto const loss = [](auto const& p, auto const& x) {
  auto const h = os::add(os::einsum<B/X, J>(x, os::reshard<I, J>(p.weight)), p.bias);
  return os::sum<>(os::cast<float>(h));
};
auto const cast_first = [](auto const& p, auto const& x) {
  return loss(os::tree_cast<os::bfloat16>(p), os::cast<os::bfloat16>(x));
};
auto const cast_last = [](auto const& p, auto const& x) {
  auto const w = os::cast<os::bfloat16>(os::reshard<I, J>(p.weight));
  return os::sum<>(
      os::cast<float>(os::add(os::einsum<B/X, J>(os::cast<os::bfloat16>(x), w), os::cast<os::bfloat16>(p.bias))));
};
auto const renamed = [](auto const& p, auto const& x) {
  auto const w = os::rename<J, K>(os::cast<os::bfloat16>(p.weight));
  return os::sum<>(os::cast<float>(os::einsum<B/X, K>(os::cast<os::bfloat16>(x), os::reshard<I, K>(w))));
};

using whole = t::global_tensor<float>;

struct problem {
  whole w, b, x;
  layer<os::values> parameters;
  os::tensor<float, B/X, I> batch;

  problem(t::test_mesh const& m, t::extents_by_letter const& e)
      : w(t::whole_numbers<float>("IJ", e, 1)),
        b(t::whole_numbers<float>("J", e, 2)),
        x(t::whole_numbers<float>("BI", e, 3)),
        parameters{t::placed<os::tensor<float, I/X, J>>(m, w), t::placed<os::tensor<float, J>>(m, b)},
        batch(t::placed<os::tensor<float, B/X, I>>(m, x)) {}

  // Small whole numbers, all of which bfloat16 represents.
  [[nodiscard]] whole of_weight() const {
    whole g = w;
    auto const n = static_cast<std::size_t>(g.extents.at('I')), m = static_cast<std::size_t>(g.extents.at('J'));
    for (std::size_t i = 0; i < n * m; ++i) g.values[i] = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(x.extents.at('B')); ++s)
      for (std::size_t i = 0; i < n * m; ++i) g.values[i] += x.values[s * n + i / m];
    return g;
  }
  [[nodiscard]] whole of_bias() const {
    whole g = b;
    for (float& v : g.values) v = static_cast<float>(x.extents.at('B'));
    return g;
  }
};

template <class Gradient>
void check(t::test_mesh const& m, problem const& p, Gradient const& g) {
  INFO(m.text());
  CHECK(t::disagreements(m, g.weight, p.of_weight()) == 0);
  CHECK(t::disagreements(m, g.bias, p.of_bias()) == 0);
}

}  // namespace

TEST_CASE("gradients of 16-bit programs are those of their float parameters") {
  t::on_every_mesh([](t::test_mesh const& m) {
    problem const p(m, {{'B', 5}, {'I', 7}, {'J', 3}});
    layer<os::values> const first = os::value_and_grad(cast_first)(p.parameters, p.batch).gradient;
    check(m, p, first);
    check(m, p, os::value_and_grad(cast_last)(p.parameters, p.batch).gradient);
    auto const later =
        os::value_and_grad<os::gathered_and_deferred_over<X>>(cast_first)(p.parameters, p.batch).gradient;
    static_assert(std::is_same_v<decltype(later.weight), os::tensor<float, I, J, os::partial(X)> const> ||
                  std::is_same_v<decltype(later.weight), os::tensor<float, I, J, os::partial(X)>>);
    check(m, p, later);
    CHECK(t::disagreements(m, os::value_and_grad(renamed)(p.parameters, p.batch).gradient.weight, p.of_weight()) == 0);
  });
}

TEST_CASE("a cast before the gather halves what moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    if (n < 2 || t::ranks() != n) return;
    problem const p(m, {{'B', 8 * n}, {'I', 4 * n}, {'J', 6}});
    std::int64_t const weight = 4 * n * 6, bias = 6, of_loss = 2 * (n - 1) * 4;
    auto const bytes = [&](auto const& step) {
      return t::traffic_of([&] { (void)step(p.parameters, p.batch); }).bytes;
    };
    // A gather and a reduce-scatter of the weight, an all-reduce of the bias' gradient, of the loss.
    CHECK(bytes(os::value_and_grad(loss)) == (n - 1) * (2 * weight * 4 + 2 * bias * 4) + of_loss);
    CHECK(bytes(os::value_and_grad(cast_first)) == (n - 1) * (2 * weight * 2 + 2 * bias * 2) + of_loss);
    CHECK(bytes(os::value_and_grad(cast_last)) == (n - 1) * (weight * (4 + 2) + 2 * bias * 2) + of_loss);
    CHECK(bytes(os::value_and_grad(renamed)) == (n - 1) * 2 * weight * 2 + of_loss);
    CHECK(bytes(os::value_and_grad<os::gathered_and_deferred_over<X>>(cast_first)) == (n - 1) * weight * 2 + of_loss);
    CHECK(bytes(os::value_and_grad<os::gathered_and_deferred_over<X>>(renamed)) == (n - 1) * weight * 2 + of_loss);
  });
}

TEST_CASE("gradients that float16 has not are kept by a scaled loss") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}};
    auto const p = t::placed<os::tensor<float, I/X>>(m, t::whole_numbers<float>("I", e, 1));
    auto const small = [](auto const& q) {
      return os::scale(os::sum<>(os::cast<float>(os::cast<os::float16>(q))), 1e-8f);
    };
    whole want{"I", e, std::vector<float>(5, 0.f)};
    CHECK(t::disagreements(m, os::value_and_grad(small)(p).gradient, want) == 0);
    os::loss_scale scaling;
    auto const g = os::value_and_grad([&](auto const& q) { return scaling(small(q)); })(p).gradient;
    CHECK(scaling.unscale(g));
    for (float& v : want.values) v = 1e-8f;
    CHECK(t::disagreements(m, g, want, [](float got, float w) { return std::abs(got - w) <= 1e-3f * w; }) == 0);
  });
}
