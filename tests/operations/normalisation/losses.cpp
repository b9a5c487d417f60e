// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::cross_entropy with os::label_smoothing, os::z_loss and os::ignore, and os::mean_where, against plain loops of
/// long doubles and values of NumPy: whole and divided axes, uneven and empty blocks, infinities and NaN, 16 bits.
// labels: essential
// sham: always

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "support/on_meshes.hpp"
#include "support/random_numbers.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::random_numbers;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int ignored = -100;

// Labels of [K, I], some of them ignored.
t::global_tensor<std::int32_t> random_labels(t::extents_by_letter const& e, unsigned seed) {
  auto labels = random_numbers<std::int32_t>("KI", e, 1, seed);
  std::mt19937 random(seed + 1);
  for (auto& l : labels.values) {
    l = static_cast<std::int32_t>(random() % static_cast<unsigned>(e.at('J') + 1)) - 1;
    if (l < 0) l = ignored;
  }
  return labels;
}

// The losses of rows along J of [I, J, K].
template <class T>
t::global_tensor<double> losses_by_loops(t::global_tensor<T> const& x, t::global_tensor<std::int32_t> const& labels,
                                         double smoothing, double z) {
  t::global_tensor<double> losses{"IK", {{'I', x.extents.at('I')}, {'K', x.extents.at('K')}}, {}};
  t::for_each_index("IK", x.extents, [&](t::extents_by_letter at) {
    std::int32_t const label = labels.values[labels.position(at)];
    long double largest = -infinity, sum = 0, target = 0;
    std::int64_t const n = x.extents.at('J');
    auto const element = [&] { return static_cast<long double>(static_cast<double>(x.values[x.position(at)])); };
    for (at['J'] = 0; at['J'] < n; ++at['J']) largest = std::max(largest, element());
    for (at['J'] = 0; at['J'] < n; ++at['J']) {
      long double const share =
          static_cast<long double>(smoothing) / static_cast<long double>(n) + (at['J'] == label ? 1 - smoothing : 0.0L);
      sum += std::exp(element() - largest);
      if (share != 0) target += share * element();
    }
    long double const l = largest + std::log(sum);
    losses.values.push_back(label == ignored ? 0 : static_cast<double>(l - target + (z == 0 ? 0 : z * l * l)));
  });
  return losses;
}

template <class Got>
std::int64_t far_from(t::test_mesh const& m, Got const& got, t::global_tensor<double> const& want) {
  using number = typename Got::value_type;
  t::global_tensor<number> w{want.labels, want.extents, {}};
  for (double x : want.values) w.values.push_back(static_cast<number>(x));
  double const unit = static_cast<double>(std::numeric_limits<number>::epsilon());
  double const of_terms = static_cast<double>(std::numeric_limits<os::accumulator_of_t<number>>::epsilon());
  return t::disagreements(m, got, w, [=](number a, number b) {
    double const x = static_cast<double>(a), y = static_cast<double>(b);
    if (std::isnan(y)) return std::isnan(x);
    return x == y || std::abs(x - y) <= 4 * unit * std::abs(y) + 160 * of_terms;
  });
}

std::vector<t::extents_by_letter> extents() {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  all.push_back({{'B', 1}, {'I', 2}, {'J', 9001}, {'K', 1}, {'L', 1}});
  all.push_back({{'B', 1}, {'I', 3}, {'J', 77}, {'K', 41}, {'L', 1}});
  return all;
}

template <class T>
void check_losses(t::test_mesh const& m, t::extents_by_letter const& e, double width, unsigned seed) {
  auto const g = random_numbers<T>("IJK", e, width, seed);
  auto const labels = random_labels(e, seed + 1);
  auto const l = t::placed<os::tensor<std::int32_t, K, I / X>>(m, labels);
  auto const whole = t::placed<os::tensor<T, I / X, J, K>>(m, g);
  auto const divided = t::placed<os::tensor<T, I / X, J / Y, K>>(m, g);
  os::ignore const no_class(ignored);
  for (double const smoothing : {0.0, 0.1, 1.0})
    for (double const z : {0.0, 0.01}) {
      INFO(m.text(), t::text_of(e), smoothing, z);
      auto const want = losses_by_loops(g, labels, smoothing, z);
      os::label_smoothing const smooths(smoothing);
      CHECK(far_from(m, os::cross_entropy<J>(whole, l, no_class, smooths, os::z_loss(z)), want) == 0);
      CHECK(far_from(m, os::cross_entropy<J / Y>(divided, l, os::z_loss(z), smooths, no_class), want) == 0);
    }
}

}  // namespace

TEST_CASE("cross entropy with smoothed labels and a z-loss") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      if (e.at('J') == 0) continue;
      check_losses<float>(m, e, 20, 7);
      check_losses<double>(m, e, 20, 9);
      check_losses<os::bfloat16>(m, e, 4, 11);
    }
  });
}

// NumPy, by the formula of PyTorch's CrossEntropyLoss, −((1 − ε) lp[label] + ε mean(lp)) of the log-probabilities lp in
// double, for x = [[0.5, -1, 2, 0.25], [1, 2, 3, 4], [-2, 0, 1, 3]], labels [2, -100, 0], ε = 0.1; and the mean over
// the two rows that count, which is PyTorch's with reduction="mean" and ignore_index=-100.
TEST_CASE("cross entropy with smoothed labels is as PyTorch defines it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::global_tensor<double> const x{"IJ", {{'I', 3}, {'J', 4}}, {0.5, -1, 2, 0.25, 1, 2, 3, 4, -2, 0, 1, 3}};
    t::global_tensor<std::int32_t> const labels{"I", {{'I', 3}}, {2, -100, 0}};
    t::global_tensor<double> const want{"I", {{'I', 3}}, {0.5255289984482534, 0, 4.925515362616714}};
    auto const l = t::placed<os::tensor<std::int32_t, I / X>>(m, labels);
    auto const loss = os::cross_entropy<J / Y>(t::placed<os::tensor<double, I / X, J / Y>>(m, x), l, os::ignore(-100),
                                               os::label_smoothing(0.1));
    CHECK(t::disagreements(m, loss, want, [](double a, double b) { return std::abs(a - b) < 1e-14; }) == 0);
    CHECK(std::abs(os::value(os::mean_where<>(loss, os::not_equal(l, -100))) - 2.725522180532484) < 1e-14);
  });
}

TEST_CASE("cross entropy of infinities and NaN, with options") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    t::global_tensor<double> g{"IJ", {{'I', 4}, {'J', 3}}, {0, 0, -infinity, -infinity, 1, 1, nan, 0, 0, 0, 0, 0}};
    t::global_tensor<std::int32_t> const labels{"I", {{'I', 4}}, {0, 0, 1, 2}};
    auto const a = t::placed<os::tensor<double, I / X, J / Y>>(m, g);
    auto const l = t::placed<os::tensor<std::int32_t, I / X>>(m, labels);
    double const two = std::log(2.0), three = std::log(3.0);
    t::global_tensor<double> want{"I", {{'I', 4}}, {two + two * two, infinity, nan, three + three * three}};
    CHECK(far_from(m, os::cross_entropy<J / Y>(a, l, os::z_loss(1)), want) == 0);
    // A class without a probability that the target asks for: −log 0, as in PyTorch.
    want.values = {infinity, infinity, nan, three};
    CHECK(far_from(m, os::cross_entropy<J / Y>(a, l, os::label_smoothing(0.5)), want) == 0);
    // An ignored row may hold anything.
    want.values = {infinity, infinity, 0, three};
    auto const but_one = os::where(os::equal(l, 1), -7, l);
    CHECK(far_from(m, os::cross_entropy<J / Y>(a, but_one, os::label_smoothing(0.5), os::ignore(-7)), want) == 0);
  });
}

TEST_CASE("options of a loss move nothing, and are numbers that mean something") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 6}, {'J', 5}};
    auto const a = t::placed<os::tensor<float, I / X, J / Y>>(m, random_numbers<float>("IJ", e, 1, 1));
    auto const l = t::placed<os::tensor<std::int32_t, I / X>>(m, random_numbers<std::int32_t>("I", e, 0.5, 1));
    auto const plain = t::traffic_of([&] { return os::cross_entropy<J / Y>(a, l); });
    auto const with =
        t::traffic_of([&] { return os::cross_entropy<J / Y>(a, l, os::label_smoothing(0.1), os::z_loss(1e-4)); });
    CHECK(with.bytes == plain.bytes);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (double const share : {-0.1, 1.5, nan, infinity})
      CHECK_THROWS_AS(static_cast<void>(os::cross_entropy<J / Y>(a, l, os::label_smoothing(share))), os::error);
    for (double const factor : {-0.1, nan, infinity})
      CHECK_THROWS_AS(static_cast<void>(os::cross_entropy<J / Y>(a, l, os::z_loss(factor))), os::error);
  });
}

namespace {

// The mean over J of [I, J, K] where the mask of [J, I] counts.
template <class T>
t::global_tensor<double> means_by_loops(t::global_tensor<T> const& x, t::global_tensor<std::int32_t> const& mask) {
  t::global_tensor<double> means{"IK", {{'I', x.extents.at('I')}, {'K', x.extents.at('K')}}, {}};
  t::for_each_index("IK", x.extents, [&](t::extents_by_letter at) {
    long double sum = 0;
    int n = 0;
    for (at['J'] = 0; at['J'] < x.extents.at('J'); ++at['J'])
      if (mask.values[mask.position(at)] != 0) sum += static_cast<double>(x.values[x.position(at)]), ++n;
    means.values.push_back(n == 0 ? 0 : static_cast<double>(sum / n));
  });
  return means;
}

template <class T>
void check_means(t::test_mesh const& m, t::extents_by_letter const& e, unsigned seed) {
  INFO(m.text(), t::text_of(e));
  auto mask = random_numbers<std::int32_t>("JI", e, 2, seed);
  if (e.at('I') > 1)
    for (std::int64_t j = 0; j < e.at('J'); ++j) mask.values[mask.position({{'J', j}, {'I', 1}})] = 0;
  auto g = random_numbers<T>("IJK", e, 2, seed + 1);
  t::for_each_index("IJK", e, [&](t::extents_by_letter const& at) {
    if (mask.values[mask.position(at)] == 0) g.values[g.position(at)] = static_cast<T>(static_cast<float>(NAN));
  });
  auto const want = means_by_loops(g, mask);
  auto const a = t::placed<os::tensor<T, I / X, J / Y, K>>(m, g);
  auto const counts = t::placed<os::tensor<std::int32_t, J / Y, I>>(m, mask);
  CHECK(far_from(m, os::mean_where<I / X, K>(a, counts), want) == 0);
  CHECK(far_from(m, os::mean_where<I, K / Y>(a, os::not_equal(counts, 0)), want) == 0);
  using operation = os::operation::mean_where<os::sharding_of<I / X, K>>;
  std::int64_t const moved = t::traffic_of([&] { return os::mean_where<I / X, K>(a, counts); }).bytes, n = t::ranks();
  CHECK(os::bytes_of(operation{}, a, counts) == (moved + n - 1) / n);
}

}  // namespace

TEST_CASE("the mean of what a mask counts, over all devices; 0 of nothing") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      if (e.at('J') > 1000) continue;
      check_means<float>(m, e, 3);
      check_means<double>(m, e, 5);
      check_means<os::float16>(m, e, 5);
    }
    auto const nothing = t::placed<os::tensor<double, I / X>>(m, {"I", {{'I', 0}}, {}});
    CHECK(os::value(os::mean_where<>(nothing, os::not_equal(nothing, 0.0))) == 0);
  });
}
