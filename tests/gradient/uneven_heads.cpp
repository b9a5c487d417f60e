// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A block of a transformer, attention with grouped queries and two products behind it, whose heads do not divide over
/// the devices: 6 heads on 4 devices are blocks of 1, 2, 1 and 2, and some devices have no head where there are fewer.
/// Value and gradient of every parameter against plain loops over numbers that carry their derivative.
// ranks: 1 2 3 4
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

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);  // heads of keys and values
OSTRAKA_AXIS(R);  // heads of queries for each of them
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(T);

template <class L>
struct block {
  os::leaf<L, double, M> norm, inner_norm;
  os::leaf<L, double, M, G/X, R, D> queries;
  os::leaf<L, double, M, G/X, D> keys, values;
  os::leaf<L, double, G/X, R, D, M> out;
  os::leaf<L, double, M, F/X> up;
  os::leaf<L, double, F/X, M> down;
};

constexpr auto apply = [](auto const& p, auto const& x) {
  auto const n = os::rms_norm<M>(x, p.norm);
  auto const of_keys = os::rename<S, T>(n);
  auto const q = os::einsum<G/X, R, S, D>(n, p.queries);
  auto const k = os::einsum<G/X, T, D>(of_keys, p.keys), v = os::einsum<G/X, T, D>(of_keys, p.values);
  auto const y = x + os::einsum<S, M>(os::attention<S, T, D>(q, k, v, os::causal), p.out);
  auto const inner = os::einsum<S, F/X>(os::rms_norm<M>(y, p.inner_norm), p.up);
  return y + os::einsum<S, M>(inner * os::sigmoid(inner), p.down);
};

// A number, and its derivative by one parameter.
struct dual {
  double value = 0, slope = 0;
};
dual operator+(dual a, dual b) { return {a.value + b.value, a.slope + b.slope}; }
dual operator*(dual a, dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
dual operator/(dual a, dual b) {
  return {a.value / b.value, (a.slope * b.value - a.value * b.slope) / (b.value * b.value)};
}
dual exp(dual a) { return {std::exp(a.value), std::exp(a.value) * a.slope}; }
dual sqrt(dual a) { return {std::sqrt(a.value), a.slope / (2 * std::sqrt(a.value))}; }

struct sizes {
  std::int64_t heads, group, width = 2, model = 4, inner = 5, positions = 3;
  [[nodiscard]] t::extents_by_letter by_letter() const {
    return {{'G', heads}, {'R', group}, {'D', width}, {'M', model}, {'F', inner}, {'S', positions}};
  }
};

// The parameters in one row: where each one begins, and its letters.
struct parameter {
  std::string letters;
  std::size_t begin;
  std::vector<std::int64_t> extents;
};

struct program {
  sizes n;
  std::vector<parameter> all;
  std::vector<double> numbers, x, weights;
  std::vector<double> slopes;  // of the loss by each number

  explicit program(sizes const& s) : n(s) {
    std::size_t end = 0;
    for (char const* letters : {"M", "M", "MGRD", "MGD", "MGD", "GRDM", "MF", "FM"}) {
      all.push_back({letters, end, {}});
      for (char l : all.back().letters) all.back().extents.push_back(n.by_letter().at(l));
      end += static_cast<std::size_t>(t::number_of_elements(letters, n.by_letter()));
    }
    numbers = some(end, 0.4, 1);
    x = some(static_cast<std::size_t>(n.positions * n.model), 1, 2);
    weights = some(x.size(), 1, 3);
    for (std::size_t i = 0; i < end; ++i) slopes.push_back(loss(i).slope);
  }

  // Numbers without an obvious pattern, up to this size.
  static std::vector<double> some(std::size_t count, double size, int salt) {
    std::vector<double> v;
    for (std::size_t i = 0; i < count; ++i) v.push_back(size * std::sin(1.7 * static_cast<double>(i) + salt));
    return v;
  }

  [[nodiscard]] t::global_tensor<double> whole(std::size_t number, std::vector<double> const& from) const {
    parameter const& p = all[number];
    auto const count = static_cast<std::size_t>(t::number_of_elements(p.letters, n.by_letter()));
    t::global_tensor<double> g{p.letters, {}, std::vector<double>(count)};
    for (char l : p.letters) g.extents[l] = n.by_letter().at(l);
    for (std::size_t i = 0; i < count; ++i) g.values[i] = from[p.begin + i];
    return g;
  }

  // Σ of the block's result times the weights, with the derivative by parameter `by`.
  [[nodiscard]] dual loss(std::size_t by) const {
    std::size_t next = 0;
    auto const at = [&](std::size_t number, auto... index) {
      std::int64_t place = 0;
      std::size_t d = 0;
      ((place = place * all[number].extents[d++] + index), ...);
      std::size_t const i = all[number].begin + static_cast<std::size_t>(place);
      return dual{numbers[i], i == by ? 1.0 : 0.0};
    };
    auto const m = static_cast<std::size_t>(n.model);
    auto const normalised = [&](std::vector<dual> const& rows, std::size_t gain) {
      std::vector<dual> r = rows;
      for (std::size_t s = 0; s < rows.size() / m; ++s) {
        dual squares{};
        for (std::size_t c = 0; c < m; ++c) squares = squares + rows[s * m + c] * rows[s * m + c];
        dual const root = sqrt(squares / dual{static_cast<double>(m)} + dual{1e-6});
        for (std::size_t c = 0; c < m; ++c)
          r[s * m + c] = rows[s * m + c] / root * at(gain, static_cast<std::int64_t>(c));
      }
      return r;
    };
    std::vector<dual> y;
    for (double const v : x) y.push_back({v, 0});
    std::vector<dual> const h = normalised(y, 0);
    auto const row = [&](std::vector<dual> const& a, std::int64_t s, std::int64_t c) {
      return a[static_cast<std::size_t>(s * n.model + c)];
    };
    for (std::int64_t s = 0; s < n.positions; ++s)
      for (std::int64_t g = 0; g < n.heads; ++g)
        for (std::int64_t r = 0; r < n.group; ++r) {
          dual sum{};
          std::vector<dual> attended(static_cast<std::size_t>(n.width));
          for (std::int64_t k = 0; k <= s; ++k) {
            dual score{};
            std::vector<dual> value(attended.size());
            for (std::int64_t d = 0; d < n.width; ++d) {
              dual q{}, key{};
              for (std::int64_t c = 0; c < n.model; ++c) {
                q = q + row(h, s, c) * at(2, c, g, r, d);
                key = key + row(h, k, c) * at(3, c, g, d);
                value[static_cast<std::size_t>(d)] = value[static_cast<std::size_t>(d)] + row(h, k, c) * at(4, c, g, d);
              }
              score = score + q * key;
            }
            dual const weight = exp(score / dual{std::sqrt(static_cast<double>(n.width))});
            sum = sum + weight;
            for (std::size_t d = 0; d < attended.size(); ++d) attended[d] = attended[d] + weight * value[d];
          }
          for (std::int64_t d = 0; d < n.width; ++d)
            for (std::int64_t c = 0; c < n.model; ++c) {
              dual& to = y[static_cast<std::size_t>(s * n.model + c)];
              to = to + attended[static_cast<std::size_t>(d)] / sum * at(5, g, r, d, c);
            }
        }
    std::vector<dual> const inner = normalised(y, 1);
    std::vector<dual> result = y;
    for (std::int64_t s = 0; s < n.positions; ++s)
      for (std::int64_t f = 0; f < n.inner; ++f) {
        dual z{};
        for (std::int64_t c = 0; c < n.model; ++c) z = z + row(inner, s, c) * at(6, c, f);
        dual const active = z / (dual{1} + exp(dual{-1} * z));
        for (std::int64_t c = 0; c < n.model; ++c) {
          dual& to = result[static_cast<std::size_t>(s * n.model + c)];
          to = to + active * at(7, f, c);
        }
      }
    dual total{};
    for (dual const& v : result) total = total + v * dual{weights[next++]};
    return total;
  }
};

bool near(double got, double want) { return std::abs(got - want) <= 1e-12 * (1 + std::abs(want)); }

void check_block(t::test_mesh const& m, program const& plain) {
  sizes const& n = plain.n;
  INFO(m.text(), ": ", n.heads, " heads with ", n.group, " of queries each");
  auto const leaf = [&]<class A>(std::size_t number, std::type_identity<A>) {
    return t::placed<A>(m, plain.whole(number, plain.numbers));
  };
  block<os::values> const p{leaf(0, std::type_identity<os::tensor<double, M>>{}),
                            leaf(1, std::type_identity<os::tensor<double, M>>{}),
                            leaf(2, std::type_identity<os::tensor<double, M, G/X, R, D>>{}),
                            leaf(3, std::type_identity<os::tensor<double, M, G/X, D>>{}),
                            leaf(4, std::type_identity<os::tensor<double, M, G/X, D>>{}),
                            leaf(5, std::type_identity<os::tensor<double, G/X, R, D, M>>{}),
                            leaf(6, std::type_identity<os::tensor<double, M, F/X>>{}),
                            leaf(7, std::type_identity<os::tensor<double, F/X, M>>{})};
  t::extents_by_letter const e{{'S', n.positions}, {'M', n.model}};
  auto const x = t::placed<os::tensor<double, S, M>>(m, {"SM", e, plain.x});
  auto const w = t::placed<os::tensor<double, S, M>>(m, {"SM", e, plain.weights});
  auto const got = os::value_and_grad([&](auto const& q) { return os::sum<>(os::multiply(apply(q, x), w)); })(p);

  CHECK(near(os::value(got.value), plain.loss(plain.numbers.size()).value));
  auto const wrong = [&](std::size_t number, auto const& gradient) {
    return t::disagreements(m, gradient, plain.whole(number, plain.slopes), near);
  };
  CHECK(wrong(0, got.gradient.norm) == 0);
  CHECK(wrong(1, got.gradient.inner_norm) == 0);
  CHECK(wrong(2, got.gradient.queries) == 0);
  CHECK(wrong(3, got.gradient.keys) == 0);
  CHECK(wrong(4, got.gradient.values) == 0);
  CHECK(wrong(5, got.gradient.out) == 0);
  CHECK(wrong(6, got.gradient.up) == 0);
  CHECK(wrong(7, got.gradient.down) == 0);
}

}  // namespace

TEST_CASE("heads that do not divide over the devices, and fewer heads than devices") {
  for (std::int64_t const heads : {1, 2, 3, 6, 7})
    for (std::int64_t const group : {1, 2}) {
      program const plain({heads, group});
      t::on_every_mesh([&](t::test_mesh const& m) { check_block(m, plain); });
    }
}

TEST_CASE("6 heads on 4 devices are 1, 2, 1 and 2, and the projections out of them are all that moves") {
  if (t::ranks() != 4) return;
  t::test_mesh const m({"XYZ", {4, 1, 1}});
  t::extents_by_letter const e{{'S', 3}, {'T', 3}, {'G', 6}, {'R', 1}, {'D', 2}};
  auto const q = t::placed<os::tensor<double, G/X, S, D>>(m, t::whole_numbers<double>("GSD", e, 1));
  auto const k = t::placed<os::tensor<double, G/X, T, D>>(m, t::whole_numbers<double>("GTD", e, 2));
  std::int64_t const heads[] = {1, 2, 1, 2};
  CHECK(q.range(0).size() == heads[m.coordinate("X", t::rank())]);
  CHECK(t::traffic_of([&] { return os::attention<S, T, D>(q, k, k, os::causal); }).bytes == 0);
}
