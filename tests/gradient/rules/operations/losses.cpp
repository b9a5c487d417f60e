// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of os::cross_entropy with os::label_smoothing and os::z_loss, and of os::mean_where: by plain loops and
/// by differences, of whole and divided axes, the last one and others, 16 bits; second derivatives; what is hidden.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr int ignored = -7;

std::vector<t::extents_by_letter> extents() {
  return {{{'I', 3}, {'J', 5}, {'K', 2}}, {{'I', 8}, {'J', 4}, {'K', 5}}, {{'I', 1}, {'J', 2}, {'K', 3}}};
}

template <class T>
t::global_tensor<T> quarters(std::string const& letters, t::extents_by_letter const& e, std::uint64_t salt) {
  auto g = t::whole_numbers<T>(letters, e, salt);
  for (T& v : g.values) v = static_cast<T>(static_cast<float>(v) * 0.25f);
  return g;
}

t::global_tensor<int> labels_of(std::string const& letters, t::extents_by_letter const& e) {
  auto label = t::whole_numbers<int>(letters, e, 1);
  for (int& l : label.values) l = (l + 6) % static_cast<int>(e.at('J'));
  label.values[0] = ignored;
  return label;
}

// The cotangents of w (l − Σ q x + z l²), rows along J of [I, J, K].
template <class T>
t::global_tensor<double> by_loops(t::global_tensor<T> const& x, t::global_tensor<int> const& label,
                                  t::global_tensor<T> const& w, double smoothing, double z) {
  t::global_tensor<double> g{x.labels, x.extents, std::vector<double>(x.values.size())};
  std::int64_t const n = x.extents.at('J');
  t::for_each_index("IK", x.extents, [&](t::extents_by_letter at) {
    long double sum = 0;
    int const of_row = label.values[label.position(at)];
    long double const weight = of_row == ignored ? 0 : static_cast<double>(w.values[w.position(at)]);
    auto const element = [&] { return static_cast<long double>(static_cast<double>(x.values[x.position(at)])); };
    for (at['J'] = 0; at['J'] < n; ++at['J']) sum += std::exp(element());
    for (at['J'] = 0; at['J'] < n; ++at['J']) {
      long double const share = std::exp(element()) / sum;
      long double const target = smoothing / static_cast<double>(n) + (at['J'] == of_row ? 1 - smoothing : 0.0);
      g.values[g.position(at)] = static_cast<double>(weight * ((1 + 2 * z * std::log(sum)) * share - target));
    }
  });
  return g;
}

template <class T>
void check_against_loops(t::test_mesh const& m, t::extents_by_letter const& e, double tolerance) {
  auto const x = quarters<T>("IJK", e, 1), last = quarters<T>("IKJ", e, 3), of_rows = quarters<T>("IK", e, 5);
  auto const label = labels_of("IK", e);
  auto const p = t::placed<os::tensor<T, I / X, J / Y, K>>(m, x);
  auto const q = t::placed<os::tensor<T, I / X, K, J / Y>>(m, last);
  auto const w = t::placed<os::tensor<T, I / X, K>>(m, of_rows);
  auto const l = t::placed<os::tensor<int, I, K>>(m, label);
  for (double const smoothing : {0.0, 0.2, 1.0})
    for (double const z : {0.0, 0.5}) {
      INFO(m.text(), t::text_of(e), smoothing, z);
      auto const close = [&](auto const& gradient, t::global_tensor<double> const& want) {
        t::global_tensor<T> rounded{want.labels, want.extents, {}};
        for (double v : want.values) rounded.values.push_back(static_cast<T>(v));
        return t::disagreements(m, gradient, rounded, [=](T a, T b) {
                 double const d = static_cast<double>(a), f = static_cast<double>(b);
                 return std::abs(d - f) <= tolerance * (0.1 + std::abs(f));
               }) == 0;
      };
      auto const loss = [&](auto const& logits) {
        return os::sum<>(os::multiply(
            os::cross_entropy<J / Y>(logits, l, os::ignore(ignored), os::z_loss(z), os::label_smoothing(smoothing)),
            w));
      };
      CHECK(close(os::value_and_grad(loss)(p).gradient, by_loops(x, label, of_rows, smoothing, z)));
      CHECK(close(os::value_and_grad(loss)(q).gradient, by_loops(last, label, of_rows, smoothing, z)));
    }
}

}  // namespace

TEST_CASE("cross entropy with smoothed labels and a z-loss: derivatives by loops, also of 16 bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      check_against_loops<double>(m, e, 1e-12);
      check_against_loops<os::bfloat16>(m, e, 0.02);
    }
  });
}

TEST_CASE("cross entropy with options: second derivatives by differences of the first") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I / X, J / Y>;
    t::extents_by_letter const e{{'I', 2}, {'J', 3}};
    INFO(m.text());
    auto const l = t::placed<os::tensor<int, I / X>>(m, labels_of("I", e));
    auto const w = t::placed<os::tensor<double, I / X>>(m, quarters<double>("I", e, 2));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const r = os::value_and_grad([&](auto const& a) {
        return os::sum<>(os::multiply(
            os::cross_entropy<J / Y>(a, l, os::label_smoothing(0.3), os::z_loss(0.25), os::ignore(ignored)), w));
      })(p);
      return os::sum<>(os::multiply(r.gradient, r.gradient));
    });
  });
}

TEST_CASE(
    "rows that do not count, of logits that are no numbers, have the derivative 0; a hidden class that of its target") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    double const none = -std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    t::global_tensor<double> const x{"IJ", {{'I', 3}, {'J', 2}}, {nan, 0, 0, none, none, none}};
    t::global_tensor<int> const label{"I", {{'I', 3}}, {ignored, 0, 1}};
    auto const l = t::placed<os::tensor<int, I / X>>(m, label);
    auto const p = t::placed<os::tensor<double, I / X, J / Y>>(m, x);
    auto const gradient = os::value_and_grad([&](auto const& a) {
                            return os::sum<>(os::cross_entropy<J / Y>(a, l, os::ignore(ignored),
                                                                      os::label_smoothing(0.5), os::z_loss(0.25)));
                          })(p)
                              .gradient;
    t::global_tensor<double> const want{"IJ", {{'I', 3}, {'J', 2}}, {0, 0, 0.25, -0.25, -0.25, -0.75}};
    CHECK(t::disagreements(m, gradient, want, [](double a, double b) { return std::abs(a - b) < 1e-15; }) == 0);
  });
}

TEST_CASE("the mean of what a mask counts: derivatives, also where the mask counts nothing or hides a NaN") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I / X, J / Y>;
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto seen = t::whole_numbers<int>("IJ", e, 4);
      for (int& v : seen.values) v = v > 0;
      for (std::int64_t j = 0; j < e.at('J'); ++j) seen.values[seen.position({{'I', 0}, {'J', j}})] = 0;
      auto const mask = t::placed<os::tensor<int, I, J / Y>>(m, seen);
      auto const w = t::placed<os::tensor<double, I / X>>(m, quarters<double>("I", e, 2));
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        auto const squares = os::multiply(p, p);
        return os::add(os::sum<>(os::multiply(os::mean_where<I / X>(squares, mask), w)),
                       os::mean_where<>(squares, mask));
      });
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        auto const r = os::value_and_grad(
            [&](auto const& a) { return os::mean_where<>(os::multiply(os::multiply(a, a), a), mask); })(p);
        return os::sum<>(os::multiply(r.gradient, r.gradient));
      });
    }
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const p = t::placed<os::tensor<double, I / X>>(m, {"I", {{'I', 3}}, {nan, 1, 2}});
    auto const counts = t::placed<os::tensor<int, I / X>>(m, {"I", {{'I', 3}}, {0, 1, 1}});
    auto const of_some = os::value_and_grad([&](auto const& a) { return os::mean_where<>(a, counts); })(p);
    CHECK(os::value(of_some.value) == 1.5);
    t::global_tensor<double> const half{"I", {{'I', 3}}, {0, 0.5, 0.5}};
    CHECK(t::disagreements(m, of_some.gradient, half, [](double a, double b) { return a == b; }) == 0);
  });
}
