// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of reductions, of choices between elements and of casts, by differences of the plain program; ties and
/// zeros by exact values.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using matrix = os::tensor<double, I/X, J/Y>;

// Offsets that make all elements different.
t::global_tensor<double> offsets(std::string const& letters, t::extents_by_letter const& e) {
  t::global_tensor<double> g = t::whole_numbers<double>(letters, e, 1);
  for (std::size_t i = 0; i < g.values.size(); ++i) g.values[i] = 0.003 * static_cast<double>(i);
  return g;
}

t::global_tensor<double> numbers(std::string const& letters, t::extents_by_letter const& e,
                                 std::vector<double> const& values) {
  t::global_tensor<double> g{letters, e, values};
  return g;
}

template <class P, class F>
std::int64_t wrong(t::test_mesh const& m, F const& f, t::global_tensor<double> const& at,
                   std::vector<double> const& want) {
  auto const g = os::value_and_grad(f)(t::placed<P>(m, at)).gradient;
  return t::disagreements(m, g, numbers(at.labels, at.extents, want),
                          [](double got, double w) { return std::abs(got - w) <= 1e-14 * (1 + std::abs(w)); });
}

}  // namespace

TEST_CASE("extremes and products over divided, whole and all axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const weigh = t::placed<os::tensor<double, I/X>>(m, t::whole_numbers<double>("I", e, 2));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const x = p + apart;
      auto const of_rows = os::max<I/X>(x) * weigh + os::min<I/X>(x) * os::prod<I/X>(x);
      auto const parts = os::reshard<I/X>(os::max<I/X, os::partial_max(Y)>(x));
      return os::sum<>(of_rows * parts) + os::sum<>(os::max<J/X>(x)) + os::min<>(x) + 0.01 * os::prod<>(x);
    });
  });
}

TEST_CASE("norms and variances") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const weigh = t::placed<os::tensor<double, I/X>>(m, t::whole_numbers<double>("I", e, 2));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const of_rows =
          os::norm<I/X>(p) * weigh + os::variance<I/X>(p) * os::standard_deviation<I/X>(p, os::ddof(1));
      return os::sum<>(of_rows * of_rows) + os::sum<>(os::variance<J/Y>(p, os::ddof(1))) + os::standard_deviation<>(p);
    });
  });
}

TEST_CASE("equal elements share, zeros among factors, norms of zeros") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 2}, {'J', 4}};
    auto const largest = [](auto const& p) { return os::sum<>(os::max<I/X>(p)); };
    auto const smallest = [](auto const& p) { return os::sum<>(os::min<I>(p)); };
    auto const values = numbers("IJ", e, {1, 3, 3, 2, 5, 5, 5, 5});
    CHECK(wrong<matrix>(m, largest, values, {0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25}) == 0);
    CHECK(wrong<matrix>(m, smallest, values, {1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25}) == 0);
    auto const product = [](auto const& p) { return os::sum<>(os::prod<I/X>(p)); };
    CHECK(wrong<matrix>(m, product, numbers("IJ", e, {2, 3, 0, 5, 0, 3, 0, 7}), {0, 0, 30, 0, 0, 0, 0, 0}) == 0);
    CHECK(wrong<matrix>(m, product, numbers("IJ", e, {2, 3, 4, 5, 0, 1, 1, 7}), {60, 40, 30, 24, 7, 0, 0, 0}) == 0);
    auto const length = [](auto const& p) { return os::sum<>(os::norm<I/X>(p)); };
    CHECK(wrong<matrix>(m, length, numbers("IJ", e, {0, 0, 0, 0, 2, 4, 4, 0}),
                        {0, 0, 0, 0, 2. / 6, 4. / 6, 4. / 6, 0}) == 0);
    auto const deviation = [](auto const& p) { return os::sum<>(os::standard_deviation<I/X>(p)); };
    CHECK(wrong<matrix>(m, deviation, numbers("IJ", e, {3, 3, 3, 3, 2, 4, 4, 2}),
                        {0, 0, 0, 0, -0.25, 0.25, 0.25, -0.25}) == 0);
    auto const two = [](auto const& p) { return os::sum<>(os::maximum(p, 3.0) + os::minimum(p, p)); };
    CHECK(wrong<matrix>(m, two, values, {1, 1.5, 1.5, 1, 2, 2, 2, 2}) == 0);
  });
}

TEST_CASE("rows without elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 2}, {'J', 0}};
    auto const all = [](auto const& p) {
      return os::sum<>(os::max<I/X>(p) + os::prod<I/X>(p) + os::norm<I/X>(p));
    };
    CHECK(wrong<matrix>(m, all, numbers("IJ", e, {}), {}) == 0);
  });
}

TEST_CASE("choices and casts; comparisons, indices and truths are constants") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const row = t::placed<os::tensor<double, J/Y>>(m, t::whole_numbers<double>("J", e, 2));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const x = p + apart;
      auto const a = os::where(x > 0.5, x, os::exp(row)) + os::where(x < x * x, 0.25, x * x);
      auto const b = os::maximum(x, row) * os::minimum(os::square(x), x) - os::maximum(0.3, x) - os::minimum(x, -0.2);
      auto const largest = os::argmax<I/X>(x);
      auto const whole = os::cast<std::int64_t>(x);
      static_assert(os::Tensor<std::remove_const_t<decltype(largest)>>);
      static_assert(os::Tensor<decltype(os::sample<J/Y>(x, os::seed(1)))>);
      static_assert(os::Tensor<std::remove_const_t<decltype(whole)>>);
      static_assert(os::Tensor<decltype(os::count<I/X>(x))> && os::Tensor<decltype(os::any<>(x == 1.0))>);
      return os::sum<>(a * b * os::cast<double>(whole)) + os::sum<>(os::cast<double>(largest) * os::max<I/X>(x));
    });
  });
}

TEST_CASE("of 16 bits: means and shares in floats") {
  using T = os::bfloat16;
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 2}, {'J', 5}};
    // far from zero: a mean of 16 bits would be off by more than all deviations
    std::vector<float> const numbers_beyond{1, -1, 2, -2, 2, 0, 1, -1, 1, 1};
    t::global_tensor<T> x{"IJ", e, {}}, of_variance = x, of_largest = x;
    for (float const v : numbers_beyond) x.values.push_back(T(128 + v));
    float const means[] = {0.4f, 0.4f};
    for (std::size_t i = 0; i < 10; ++i) {
      of_variance.values.push_back(T(2.0f / 5 * (numbers_beyond[i] - means[i / 5])));
      float const share = i < 5 ? (numbers_beyond[i] == 2 ? 0.5f : 0.0f) : (numbers_beyond[i] == 1 ? 1.0f / 3 : 0.0f);
      of_largest.values.push_back(T(share));
    }
    auto const p = t::placed<os::tensor<T, I/X, J/Y>>(m, x);
    auto const gradient = [&](auto const& f) { return os::value_and_grad(f)(p).gradient; };
    auto const close = [](T got, T want) {
      float const g = static_cast<float>(got), w = static_cast<float>(want);
      return std::abs(g - w) <= 0.004f * std::abs(w);  // one unit in the last place
    };
    CHECK(t::disagreements(m, gradient([](auto const& q) { return os::sum<>(os::variance<I/X>(q)); }), of_variance,
                           close) == 0);
    CHECK(t::disagreements(m, gradient([](auto const& q) { return os::sum<>(os::max<I/X>(q)); }), of_largest) == 0);
  });
}

TEST_CASE("a cast's cotangent moves as the narrower") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'B', 4}, {'I', 6}};
    auto const w = t::placed<os::tensor<float, I/X>>(m, t::whole_numbers<float>("I", e, 2));
    auto const gathered = [](auto const& p) { return os::sum<>(os::reshard<I>(os::cast<os::bfloat16>(p))); };
    auto const r = os::value_and_grad(gathered)(w);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(r.gradient)>, os::tensor<float, I/X>>);
    t::global_tensor<float> ones = t::whole_numbers<float>("I", e, 2);
    for (float& v : ones.values) v = 1;
    CHECK(t::disagreements(m, r.gradient, ones) == 0);

    auto const data = t::placed<os::tensor<os::bfloat16, B/X, I>>(m, t::whole_numbers<os::bfloat16>("BI", e, 3));
    auto const layer = [&](auto const& p) {
      return os::sum<>(os::einsum<B/X>(data, os::reshard<I>(os::cast<os::bfloat16>(p))));
    };
    auto const wide = [&](auto const& p) {
      return os::sum<>(os::einsum<B/X>(os::cast<float>(data), os::reshard<I>(p)));
    };
    auto const narrow_bytes = t::traffic_of([&] { static_cast<void>(os::value_and_grad(layer)(w)); }).bytes -
                              t::traffic_of([&] { static_cast<void>(layer(w)); }).bytes;
    auto const wide_bytes = t::traffic_of([&] { static_cast<void>(os::value_and_grad(wide)(w)); }).bytes -
                            t::traffic_of([&] { static_cast<void>(wide(w)); }).bytes;
    CHECK(2 * narrow_bytes == wide_bytes);
  });
}

TEST_CASE("the gradient of a gradient, of a product with a zero, too") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    INFO(m.text());
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const loss = [&](auto const& p) {
      auto const x = p + apart;
      return os::sum<>(os::max<I/X>(x) * os::norm<I/X>(x) * os::variance<I/X>(x) + os::prod<I/X>(x)) +
             os::sum<>(os::where(x > 0.3, x * x, os::maximum(x, 0.2) * x)) + os::standard_deviation<>(x);
    };
    auto const first = os::value_and_grad(loss);
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const g = first(p).gradient;
      return os::mean<>(g * g);
    });
    t::extents_by_letter const few{{'I', 2}, {'J', 3}};
    auto const product = os::value_and_grad([](auto const& p) { return os::sum<>(os::prod<I/X>(p)); });
    auto const weigh = t::placed<matrix>(m, numbers("IJ", few, {1, 2, 3, 1, 2, 3}));
    // Σ_i w_i Π_{j≠i} x_j by x_k: Σ_{i≠k} w_i Π_{j≠i,k} x_j
    CHECK(wrong<matrix>(
              m, [&](auto const& p) { return os::sum<>(product(p).gradient * weigh); },
              numbers("IJ", few, {0, 5, 7, 0, 0, 7}), {29, 7, 5, 14, 7, 0}) == 0);
  });
}
