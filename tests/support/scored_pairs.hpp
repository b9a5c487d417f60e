// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Attention with windows, documents, a soft cap, a bias, ALiBi and sinks, and its derivatives, by plain loops in
/// double. A pair that is hidden is not read.
///
/// B: batches, L: heads of keys, G: queries' heads of each, I: queries, K: keys, J: the width.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/global_tensor.hpp"

namespace ostraka::testing {

struct scored_by_loops {
  std::string name;
  global_tensor<double> q, k, v, g;  ///< "BLGIJ", "BLKJ", "BLKJ", and cotangents of the result, as q
  bool causal = false;
  std::int64_t from = 0, window = std::int64_t{1} << 40, first = 0;
  double cap = 0;                                                ///< 0: none
  global_tensor<double> bias, slopes, sinks;                     ///< "LIK", "LG", "LG"
  global_tensor<std::int32_t> query_segments{}, key_segments{};  ///< "BI", "BK"
  global_tensor<double> out{}, dq{}, dk{}, dv{}, dbias{}, dsinks{};
  global_tensor<double> hidden{};  ///< "BLKJ": 1 in the rows of keys that no query sees, otherwise 0

  [[nodiscard]] bool sees(extents_by_letter const& at) const {
    std::int64_t const query = at.at('I') + from, key = at.at('K');
    if (causal && key > query) return false;
    if (std::abs(query - key) >= window && key >= first) return false;
    if (std::isinf(bias.values[bias.position(at)])) return false;
    return query_segments.values[query_segments.position(at)] == key_segments.values[key_segments.position(at)];
  }

  void run() {
    out = dq = zeros_as(q), dk = zeros_as(k), dv = zeros_as(v), dbias = zeros_as(bias), dsinks = zeros_as(sinks);
    hidden = zeros_as(k);
    for (double& x : hidden.values) x = 1;
    std::int64_t const width = q.extents.at('J'), keys = k.extents.at('K');
    double const scale = width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
    double const inf = std::numeric_limits<double>::infinity();
    for_each_index("BLGI", q.extents, [&](extents_by_letter at) {
      std::vector<std::int64_t> seen;
      for (at['K'] = 0; at['K'] < keys; ++at['K'])
        if (sees(at)) seen.push_back(at['K']);
      std::size_t const n = seen.size();
      auto const each = [&](auto const& f) {
        for (std::size_t s = 0; s < n; ++s)
          for (std::int64_t j = 0; j < width; ++j) {
            at['K'] = seen[s], at['J'] = j;
            f(s, q.position(at), k.position(at));
          }
      };
      std::vector<double> x(n), w(n), dw(n), slope_of_cap(n, 1.0);
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { x[s] += scale * q.values[iq] * k.values[ik]; });
      std::size_t const sink = sinks.position(at);
      double largest = sinks.values[sink], sum = 0, pulled = 0;
      for (std::size_t s = 0; s < n; ++s) {
        at['K'] = seen[s];
        w[s] = x[s];
        if (cap > 0) {
          w[s] = cap * std::tanh(x[s] / cap);
          slope_of_cap[s] = 1 - std::pow(std::tanh(x[s] / cap), 2);
        }
        w[s] += bias.values[bias.position(at)];
        w[s] -= slopes.values[slopes.position(at)] * static_cast<double>(std::abs(at['I'] + from - at['K']));
        largest = std::fmax(largest, w[s]);
      }
      double const of_sink = largest == -inf ? 0 : std::exp(sinks.values[sink] - largest);
      sum = of_sink;
      for (double& s : w) sum += s = std::exp(s - largest);
      for (double& s : w) s /= sum;
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { out.values[iq] += w[s] * v.values[ik]; });
      each([&](std::size_t s, std::size_t iq, std::size_t ik) { dw[s] += g.values[iq] * v.values[ik]; });
      for (std::size_t s = 0; s < n; ++s) pulled += w[s] * dw[s];
      if (of_sink > 0 || std::isnan(sum)) dsinks.values[sink] -= of_sink / sum * pulled;
      for (std::size_t s = 0; s < n; ++s) {
        at['K'] = seen[s];
        dbias.values[bias.position(at)] += w[s] * (dw[s] - pulled);
      }
      each([&](std::size_t s, std::size_t iq, std::size_t ik) {
        double const ds = scale * slope_of_cap[s] * w[s] * (dw[s] - pulled);
        dq.values[iq] += ds * k.values[ik];
        dk.values[ik] += ds * q.values[iq];
        dv.values[ik] += w[s] * g.values[iq];
        hidden.values[ik] = 0;
      });
    });
  }

  /// The same sequences in the order of stripes over n devices, with what was computed.
  [[nodiscard]] scored_by_loops striped(std::int64_t n) const {
    scored_by_loops s = *this;
    for (global_tensor<double>* a : {&s.q, &s.k, &s.v, &s.g, &s.bias, &s.out, &s.dq, &s.dk, &s.dv, &s.dbias, &s.hidden})
      for (char const axis : {'I', 'K'}) put_in_stripes(*a, axis, n);
    put_in_stripes(s.query_segments, 'I', n);
    put_in_stripes(s.key_segments, 'K', n);
    return s;
  }

 private:
  static global_tensor<double> zeros_as(global_tensor<double> a) {
    for (double& x : a.values) x = 0;
    return a;
  }

  template <class T>
  static void put_in_stripes(global_tensor<T>& a, char axis, std::int64_t n) {
    if (a.labels.find(axis) == std::string::npos) return;
    global_tensor<T> const in_order = a;
    std::int64_t const chunk = a.extents.at(axis) / (2 * n);
    for_each_index(a.labels, a.extents, [&](extents_by_letter at) {
      std::size_t const to = a.position(at);
      std::int64_t const number = at.at(axis) / chunk, device = number / 2;
      at[axis] = (number % 2 == 0 ? device : 2 * n - 1 - device) * chunk + at.at(axis) % chunk;
      a.values[to] = in_order.values[in_order.position(at)];
    });
  }
};

/// True if both are finite and close, or neither is finite.
inline bool scores_agree(double got, double wanted) {
  if (!std::isfinite(got) || !std::isfinite(wanted)) return !std::isfinite(got) && !std::isfinite(wanted);
  return std::abs(got - wanted) <= 1e-12 * (1 + std::abs(wanted));
}

/// Attentions with options alone and together, with and without a soft cap. The last key and the first value are NaN in
/// some of them, and affect only the queries that see them.
inline std::vector<scored_by_loops> attentions_with_options(extents_by_letter const& e, bool with_cap) {
  double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<scored_by_loops> all;
  auto const zeros = [&](std::string const& letters, double value) {
    global_tensor<double> a = whole_numbers<double>(letters, e, 1);
    for (double& x : a.values) x = value;
    return a;
  };
  auto const quarters = [&](std::string const& letters, std::uint64_t salt) {
    global_tensor<double> a = whole_numbers<double>(letters, e, salt);
    for (double& x : a.values) x *= 0.25;
    return a;
  };
  auto const ids = [&](std::string const& letters, char axis, std::int64_t length) {
    global_tensor<std::int32_t> a{letters, e, {}};
    for_each_index(letters, e, [&](extents_by_letter const& at) {
      a.values.push_back(static_cast<std::int32_t>((at.at(axis) + at.at('B')) / length));
    });
    return a;
  };
  auto const add = [&](std::string const& name, bool causal, auto const& change) {
    scored_by_loops a;
    a.name = name;
    a.q = quarters("BLGIJ", 1), a.k = quarters("BLKJ", 2), a.v = quarters("BLKJ", 3), a.g = quarters("BLGIJ", 4);
    a.causal = causal;
    a.bias = zeros("LIK", 0), a.slopes = zeros("LG", 0), a.sinks = zeros("LG", -inf);
    a.query_segments = ids("BI", 'I', 1 << 20), a.key_segments = ids("BK", 'K', 1 << 20);
    if (with_cap) a.cap = 1.5;
    change(a);
    a.run();
    all.push_back(a);
  };
  auto const spoil = [&](global_tensor<double>& a, std::int64_t key) {
    for_each_index(a.labels, e, [&](extents_by_letter const& at) {
      if (at.at('K') == key) a.values[a.position(at)] = nan;
    });
  };
  std::int64_t const keys = e.at('K');
  for (bool const causal : {false, true}) {
    for (std::int64_t const window : {0, 1, 2, 5})
      add("window " + std::to_string(window), causal, [&](auto& a) {
        a.window = window;
        spoil(a.v, 0);
        spoil(a.k, keys - 1);
      });
    add("window and first", causal, [&](auto& a) { a.window = 2, a.first = 2; });
    add("segments", causal, [&](auto& a) {
      a.query_segments = ids("BI", 'I', 3), a.key_segments = ids("BK", 'K', 3);
      spoil(a.v, keys - 1);
      spoil(a.k, 0);
    });
    add("bias, of which some is −∞", causal, [&](auto& a) {
      a.bias = quarters("LIK", 5);
      for_each_index("LIK", e, [&](extents_by_letter const& at) {
        if ((at.at('I') + 2 * at.at('K')) % 5 == 0) a.bias.values[a.bias.position(at)] = -inf;
      });
    });
    add("alibi and sinks", causal, [&](auto& a) { a.slopes = quarters("LG", 6), a.sinks = quarters("LG", 7); });
    add("all, from a position", causal, [&](auto& a) {
      a.from = causal ? 1 : 0, a.window = 3, a.first = 1;
      a.bias = quarters("LIK", 5), a.slopes = quarters("LG", 6), a.sinks = quarters("LG", 7);
      a.query_segments = ids("BI", 'I', 4), a.key_segments = ids("BK", 'K', 4);
    });
  }
  return all;
}

}  // namespace ostraka::testing
