// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Attention and its derivatives by plain loops over the pairs of queries and keys that see each other. The loops do
/// not read a pair that a mask hides, so its query, key and value cannot affect the result.
///
/// B: batches, L: heads of keys, G: queries' heads of each, I: queries, K: keys, J: the width.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/global_tensor.hpp"

namespace ostraka::testing {

struct attention_by_loops {
  global_tensor<double> q, k, v, g;  ///< "BLGIJ", "BLKJ", "BLKJ", and cotangents of the result, as q
  bool causal = false;               ///< a query sees keys up to its index + from
  std::int64_t from = 0;
  global_tensor<std::int32_t> mask{};  ///< "IK", if there are any: 0 hides
  global_tensor<double> out{}, dq{}, dk{}, dv{};

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const {
    if (causal && key > query + from) return false;
    if (mask.values.empty()) return true;
    return mask.values[static_cast<std::size_t>(query * mask.extents.at('K') + key)] != 0;
  }

  void run() {
    out = dq = zeros_as(q), dk = zeros_as(k), dv = zeros_as(v);
    std::int64_t const width = q.extents.at('J'), keys = k.extents.at('K');
    double const scale = width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
    for_each_index("BLGI", q.extents, [&](extents_by_letter at) {
      std::vector<std::int64_t> seen;
      for (std::int64_t key = 0; key < keys; ++key)
        if (sees(at.at('I'), key)) seen.push_back(key);
      auto const each = [&](auto const& f) {
        for (std::size_t s = 0; s < seen.size(); ++s)
          for (std::int64_t j = 0; j < width; ++j) {
            at['K'] = seen[s], at['J'] = j;
            f(s, q.position(at), k.position(at));
          }
      };
      std::vector<double> w(seen.size()), dw(seen.size());
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { w[s] += scale * q.values[iq] * k.values[ik]; });
      double largest = -std::numeric_limits<double>::infinity(), sum = 0, pulled = 0;
      for (double const s : w) largest = std::fmax(largest, s);
      for (double& s : w) sum += s = std::exp(s - largest);
      for (double& s : w) s /= sum;
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { out.values[iq] += w[s] * v.values[ik]; });
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { dw[s] += g.values[iq] * v.values[ik]; });
      for (std::size_t s = 0; s < seen.size(); ++s) pulled += w[s] * dw[s];
      each([&](std::size_t s, std::size_t iq, std::size_t ik) {
        double const ds = scale * w[s] * (dw[s] - pulled);
        dq.values[iq] += ds * k.values[ik];
        dk.values[ik] += ds * q.values[iq];
        dv.values[ik] += w[s] * g.values[iq];
      });
    });
  }

 private:
  static global_tensor<double> zeros_as(global_tensor<double> g) {
    for (double& x : g.values) x = 0;
    return g;
  }
};

/// True if both are finite and close, or neither is finite.
inline bool agrees_or_neither_is_finite(double got, double wanted) {
  if (!std::isfinite(got) || !std::isfinite(wanted)) return !std::isfinite(got) && !std::isfinite(wanted);
  return std::abs(got - wanted) <= 1e-12 * (1 + std::abs(wanted));
}

/// Attentions whose hidden elements are NaN and infinite: keys and values beyond a cache's position, keys and values
/// that a mask hides from all queries or from some, a query that sees few keys.
inline std::vector<attention_by_loops> attentions_with_hidden_elements(extents_by_letter const& e) {
  double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<attention_by_loops> all;
  auto const made = [&](bool causal, std::int64_t from, auto const& mask_of, auto const& spoil) {
    attention_by_loops a{whole_numbers<double>("BLGIJ", e, 1),
                         whole_numbers<double>("BLKJ", e, 2),
                         whole_numbers<double>("BLKJ", e, 3),
                         whole_numbers<double>("BLGIJ", e, 4),
                         causal,
                         from};
    for (global_tensor<double>* x : {&a.q, &a.k, &a.v, &a.g})
      for (double& y : x->values) y *= 0.25;
    a.mask = {"IK", e, std::vector<std::int32_t>(static_cast<std::size_t>(e.at('I') * e.at('K')), 1)};
    for_each_index("IK", e, [&](extents_by_letter const& at) {
      a.mask.values[a.mask.position(at)] = mask_of(at.at('I'), at.at('K')) ? 1 : 0;
    });
    for_each_index("BLKJ", e, [&](extents_by_letter const& at) {
      spoil(at, a.k.values[a.k.position(at)], a.v.values[a.v.position(at)]);
    });
    all.push_back(a);
  };
  auto const seen = [](auto, auto) { return true; };
  std::int64_t const keys = e.at('K'), queries = e.at('I');
  auto const unspoilt = [](auto const&...) {};
  // Keys and values beyond the position of a cache; all others are finite.
  std::int64_t const position = keys - queries - 2;
  if (position >= 0)
    made(true, position, seen, [&](auto const& at, double& k, double& v) {
      if (at.at('K') >= position + queries) k = at.at('J') == 0 ? nan : inf, v = at.at('J') == 0 ? -inf : nan;
    });
  // The last value, which only the last queries see; then a key and its value in the middle.
  made(true, 0, seen, [&](auto const& at, double&, double& v) {
    if (at.at('K') == keys - 1 && at.at('J') == 0) v = nan;
  });
  made(true, 0, seen, [&](auto const& at, double& k, double& v) {
    if (at.at('K') == keys / 2 && at.at('J') == e.at('J') - 1) k = nan, v = -inf;
  });
  // Keys hidden from all queries; a value hidden from every other query, beside a query that sees nothing.
  made(
      false, 0, [](auto, auto key) { return key % 3 != 1; },
      [&](auto const& at, double& k, double& v) {
        if (at.at('K') % 3 == 1) k = nan, v = at.at('J') == 0 ? inf : nan;
      });
  made(
      false, 0, [](auto query, auto key) { return query != 1 && (key != 0 || query % 2 == 0); },
      [&](auto const& at, double&, double& v) {
        if (at.at('K') == 0) v = nan;
      });
  // A query of NaN, then a query with cotangents of NaN.
  for (auto const spoilt : {&attention_by_loops::q, &attention_by_loops::g}) {
    made(true, 0, seen, unspoilt);
    for_each_index("BLGIJ", e, [&](extents_by_letter const& at) {
      if (at.at('I') == 0 && at.at('J') == 0) (all.back().*spoilt).values[all.back().q.position(at)] = nan;
    });
  }
  for (attention_by_loops& a : all) a.run();
  return all;
}

}  // namespace ostraka::testing
