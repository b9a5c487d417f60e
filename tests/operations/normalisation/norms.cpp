// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::rms_norm and os::layer_norm against plain loops of long doubles: whole and divided axes, the last one and
/// others, with and without gain and bias, 16 bits, a mean that is large beside the deviations, uneven and empty
/// blocks.
// sham: always

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>

#include "support/on_meshes.hpp"
#include "support/random_numbers.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Numbers less than 1 away from the mean.
template <class T>
t::global_tensor<T> random_numbers(std::string const& labels, t::extents_by_letter const& e, double mean,
                                   unsigned seed) {
  return t::random_between<T>(mean - 1, mean + 1, labels, e, seed);
}

enum class norm { rms, layer };

// Along J. Gain and bias are of J, and may be empty.
template <class T>
t::global_tensor<double> by_loops(norm which, t::global_tensor<T> const& g, std::vector<T> const& gain,
                                  std::vector<T> const& bias, double epsilon) {
  t::global_tensor<double> y{g.labels, g.extents, {}};
  y.values.resize(g.values.size());
  std::string rows = g.labels;
  rows.erase(rows.find('J'), 1);
  std::int64_t const n = g.extents.at('J');
  t::for_each_index(rows, g.extents, [&](t::extents_by_letter at) {
    auto const element = [&](std::int64_t j) {
      at['J'] = j;
      return g.position(at);
    };
    long double mean = 0, squares = 0;
    if (which == norm::layer)
      for (std::int64_t j = 0; j < n; ++j) mean += static_cast<long double>(g.values[element(j)]) / n;
    for (std::int64_t j = 0; j < n; ++j) {
      long double const d = static_cast<long double>(g.values[element(j)]) - mean;
      squares += d * d / n;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      long double const scale = gain.empty() ? 1 : static_cast<long double>(gain[static_cast<std::size_t>(j)]);
      long double const plus = bias.empty() ? 0 : static_cast<long double>(bias[static_cast<std::size_t>(j)]);
      std::size_t const k = element(j);
      y.values[k] = static_cast<double>(
          (static_cast<long double>(g.values[k]) - mean) / std::sqrt(squares + epsilon) * scale + plus);
    }
  });
  return y;
}

// Within some units of the last place of the summed numbers; the mean of a row is rounded, so deviations are off by a
// unit of it.
template <class T>
std::int64_t far_from(t::test_mesh const& m, T const& got, t::global_tensor<double> const& want, double mean = 0) {
  using number = typename T::value_type;
  t::global_tensor<number> w{want.labels, want.extents, {}};
  for (double x : want.values) w.values.push_back(static_cast<number>(x));
  double const unit = static_cast<double>(std::numeric_limits<number>::epsilon());
  double const summed = static_cast<double>(std::numeric_limits<os::accumulator_of_t<number>>::epsilon());
  return t::disagreements(m, got, w, [=](number a, number b) {
    double const x = static_cast<double>(a), y = static_cast<double>(b);
    return x == y || std::abs(x - y) <= 4 * unit * std::abs(y) + 32 * summed * (1 + std::abs(y)) + 8 * summed * mean;
  });
}

std::vector<t::extents_by_letter> extents() {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  all.push_back({{'B', 1}, {'I', 2}, {'J', 9001}, {'K', 1}, {'L', 1}});  // a row of more than a piece
  all.push_back({{'B', 1}, {'I', 3}, {'J', 77}, {'K', 41}, {'L', 1}});
  return all;
}

// The predicted and the moved bytes are equal.
template <class Operation, class A>
bool moves_as_predicted(Operation const& operation, A const& a) {
  std::int64_t const moved = t::traffic_of([&] { return os::detail::operate(operation, a); }).bytes,
                     n = t::ranks();
  return os::bytes_of(operation, a) == (moved + n - 1) / n;
}

}  // namespace

TEST_CASE("norms of whole and divided axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const g = random_numbers<double>("IJ", e, 0.5, 1);
      auto const gain = random_numbers<double>("J", e, 1, 2), bias = random_numbers<double>("J", e, 0, 3);
      auto const whole = t::placed<os::tensor<double, I/X, J>>(m, g);
      auto const divided = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
      auto const twice = t::placed<os::tensor<double, I, J/Y/X>>(m, g);
      auto const gain_here = t::placed<os::tensor<double, J/Y>>(m, gain);
      auto const gain_whole = t::placed<os::tensor<double, J>>(m, gain),
                 bias_whole = t::placed<os::tensor<double, J>>(m, bias);
      auto const rms = by_loops(norm::rms, g, {}, {}, 1e-6), scaled = by_loops(norm::rms, g, gain.values, {}, 1e-3);
      CHECK(far_from(m, os::rms_norm<J>(whole), rms) == 0);
      CHECK(far_from(m, os::rms_norm<J/Y>(divided), rms) == 0);
      CHECK(far_from(m, os::rms_norm<J/Y/X>(twice), rms) == 0);
      CHECK(far_from(m, os::rms_norm<J>(whole, gain_whole, os::epsilon(1e-3)), scaled) == 0);
      CHECK(far_from(m, os::rms_norm<J/Y>(divided, gain_here, os::epsilon(1e-3)), scaled) == 0);
      CHECK(far_from(m, os::rms_norm<J/Y>(divided, gain_whole, os::epsilon(1e-3)), scaled) == 0);
      auto const layer = by_loops(norm::layer, g, {}, {}, 1e-5);
      auto const full = by_loops(norm::layer, g, gain.values, bias.values, 1e-3);
      CHECK(far_from(m, os::layer_norm<J>(whole), layer) == 0);
      CHECK(far_from(m, os::layer_norm<J/Y>(divided), layer) == 0);
      CHECK(far_from(m, os::layer_norm<J/Y/X>(twice), layer) == 0);
      CHECK(far_from(m, os::layer_norm<J>(whole, gain_whole, bias_whole, os::epsilon(1e-3)), full) == 0);
      CHECK(far_from(m, os::layer_norm<J/Y>(divided, gain_here, bias_whole, os::epsilon(1e-3)), full) == 0);
      CHECK(moves_as_predicted(os::operation::rms_norm<os::detail::type_of<J/Y>>{}, divided));
      CHECK(moves_as_predicted(os::operation::layer_norm<os::detail::type_of<J/Y>>{}, divided));
      CHECK(moves_as_predicted(os::operation::layer_norm<os::detail::type_of<J/Y/X>>{}, twice));
    }
  });
}

TEST_CASE("norms along an axis that is not the last, and of 16 bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const g = random_numbers<float>("IJK", e, 0.5, 4);
      auto const gain = random_numbers<float>("J", e, 1, 5), bias = random_numbers<float>("J", e, 0, 6);
      auto const a = t::placed<os::tensor<float, I/X, J/Y, K>>(m, g);
      auto const times = t::placed<os::tensor<float, J/Y>>(m, gain);
      auto const plus = t::placed<os::tensor<float, J>>(m, bias);
      CHECK(far_from(m, os::rms_norm<J/Y>(a, times), by_loops(norm::rms, g, gain.values, {}, 1e-6)) == 0);
      CHECK(far_from(m, os::layer_norm<J/Y>(a, times, plus),
                     by_loops(norm::layer, g, gain.values, bias.values, 1e-5)) == 0);
      auto const narrow = random_numbers<os::bfloat16>("IJ", e, 0.5, 7);
      auto const b = t::placed<os::tensor<os::bfloat16, I/X, J/Y>>(m, narrow);
      CHECK(far_from(m, os::layer_norm<J/Y>(b), by_loops(norm::layer, narrow, {}, {}, 1e-5)) == 0);
    }
  });
}

TEST_CASE("a mean that is large beside the deviations") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      double const mean = 3e4;
      auto const g = random_numbers<float>("IJ", e, mean, 8);
      auto const want = by_loops(norm::layer, g, {}, {}, 1e-5);
      CHECK(far_from(m, os::layer_norm<J>(t::placed<os::tensor<float, I/X, J>>(m, g)), want, mean) == 0);
      CHECK(far_from(m, os::layer_norm<J/Y>(t::placed<os::tensor<float, I/X, J/Y>>(m, g)), want, mean) == 0);
    }
  });
}

TEST_CASE("a first element that is far from the mean, and squares that do not fit") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto g = random_numbers<float>("IJ", {{'I', 3}, {'J', 4099}}, 10, 10);
    for (std::size_t i = 0; i < 3; ++i) g.values[i * 4099] = -10;
    for (float& x : g.values) x *= 1e17f;
    INFO(m.text());
    CHECK(far_from(m, os::layer_norm<J>(t::placed<os::tensor<float, I/X, J>>(m, g)),
                   by_loops(norm::layer, g, {}, {}, 1e-5), 20) == 0);
  });
}

TEST_CASE("a norm in a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = random_numbers<double>("IJ", {{'I', 7}, {'J', 5}}, 0, 9);
    auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    auto const got =
        os::shard_map<os::manual(X), I/X, J/Y>([](auto const& block) { return os::layer_norm<J/Y>(block); }, a);
    CHECK(far_from(m, got, by_loops(norm::layer, g, {}, {}, 1e-5)) == 0);
  });
}
