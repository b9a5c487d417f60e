// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::attention against plain loops: heads, batches, queries and keys divided, masks, groups of heads, moved bytes.
// labels: essential
// gpu:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// B: batches, L: heads, I: queries, K: keys, J: the head's width, G: queries' heads of a head of keys.
OSTRAKA_AXIS(G);

struct attended {
  bool causal = false;
  std::int64_t from = 0;
  double scale = std::numeric_limits<double>::quiet_NaN();  // not given
  t::global_tensor<std::int32_t> const* mask = nullptr;     // "BK"

  [[nodiscard]] bool sees(t::extents_by_letter const& at) const {
    return (!causal || at.at('K') <= at.at('I') + from) && (mask == nullptr || mask->values[mask->position(at)] != 0);
  }
};

/// By its definition, one query after another.
t::global_tensor<double> by_loops(t::global_tensor<double> const& q, t::global_tensor<double> const& k,
                                  t::global_tensor<double> const& v, attended const& how) {
  std::int64_t const keys = k.extents.at('K'), width = q.extents.at('J');
  t::global_tensor<double> out{q.labels, q.extents, {}};
  out.extents['J'] = v.extents.at('J');
  out.values.resize(static_cast<std::size_t>(t::number_of_elements(out.labels, out.extents)));
  double const scale = !std::isnan(how.scale) ? how.scale : width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
  t::for_each_index(out.labels, out.extents, [&](t::extents_by_letter at) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0, weighted = 0;
    std::int64_t const column = at.at('J');
    for (bool const found : {false, true})
      for (std::int64_t key = 0; key < keys; ++key) {
        at['K'] = key;
        if (!how.sees(at)) continue;
        double score = 0;
        for (std::int64_t j = 0; j < width; ++j) {
          at['J'] = j;
          score += scale * q.values[q.position(at)] * k.values[k.position(at)];
        }
        at['J'] = column;
        if (!found) largest = std::fmax(largest, score);
        if (!found) continue;
        sum += std::exp(score - largest);
        weighted += std::exp(score - largest) * v.values[v.position(at)];
      }
    out.values[out.position(at)] = sum > 0 ? weighted / sum : 0;
  });
  return out;
}

constexpr auto is_close = [](double got, double wanted) { return std::abs(got - wanted) <= 1e-13; };

struct operands {
  explicit operands(t::extents_by_letter e, std::string const& of_queries = "BLIJ", std::string const& of_keys = "BLKJ")
      : q(t::whole_numbers<double>(of_queries, e, 1)),
        k(t::whole_numbers<double>(of_keys, e, 2)),
        v(t::whole_numbers<double>(of_keys, e, 3)),
        mask(t::whole_numbers<std::int32_t>("BK", e, 4)) {
    for (std::int32_t& seen : mask.values) seen = seen > 0 ? 1 : 0;
  }
  t::global_tensor<double> q, k, v;
  t::global_tensor<std::int32_t> mask;  // hides all keys of some sequences
};

}  // namespace

TEST_CASE("heads, batches and queries are divided, and nothing moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      operands const o(e);
      auto const q = t::placed<os::tensor<double, B/X, L/Y, I, J>>(m, o.q);
      auto const k = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.k);
      auto const v = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.v);
      auto const mask = t::placed<os::tensor<std::int32_t, B, K>>(m, o.mask);
      os::tensor<double, B/X, L/Y, I, J> out;
      CHECK(t::traffic_of([&] { out = os::attention<I, K, J>(q, k, v, os::causal, os::from_position(2)); }).calls == 0);
      CHECK(t::disagreements(m, out, by_loops(o.q, o.k, o.v, {.causal = true, .from = 2}), is_close) == 0);
      out = os::attention<I, K, J>(q, k, v, mask, os::score_scale(0.25));
      CHECK(t::disagreements(m, out, by_loops(o.q, o.k, o.v, {.scale = 0.25, .mask = &o.mask}), is_close) == 0);
      out = os::attention<I, K, J>(q, k, v, mask, os::score_scale(0));  // the mean of the visible values
      CHECK(t::disagreements(m, out, by_loops(o.q, o.k, o.v, {.scale = 0, .mask = &o.mask}), is_close) == 0);

      // Queries divided; keys and values are gathered by name.
      auto const by_query = t::placed<os::tensor<double, B, L, I/X, J>>(m, o.q);
      auto const keys = t::placed<os::tensor<double, B, L, K/X, J>>(m, o.k);
      auto const values = t::placed<os::tensor<double, B, L, K/X, J>>(m, o.v);
      CHECK(t::disagreements(
                m,
                os::attention<I, K, J>(by_query, os::all_gather<X>(keys), os::all_gather<X>(values), mask, os::causal),
                by_loops(o.q, o.k, o.v, {.causal = true, .mask = &o.mask}), is_close) == 0);
    }
  });
}

TEST_CASE("keys and values stay where they are, and of each query two numbers and its result move") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      operands const o(e);
      auto const q = t::placed<os::tensor<double, B, L/Y, I, J>>(m, o.q);
      auto const k = t::placed<os::tensor<double, B, L/Y, K/X, J>>(m, o.k);
      auto const v = t::placed<os::tensor<double, B, L/Y, K/X, J>>(m, o.v);
      auto const mask = t::placed<os::tensor<std::int32_t, B, K/X>>(m, o.mask);
      auto const want = by_loops(o.q, o.k, o.v, {.causal = true, .from = 1, .mask = &o.mask});
      os::tensor<double, B, L/Y, I, J> out;
      auto const moved =
          t::traffic_of([&] { out = os::attention<I, K/X, J>(q, k, v, os::causal, mask, os::from_position(1)); });
      CHECK(t::disagreements(m, out, want, is_close) == 0);
      os::operation::attention<I_axis, os::over<K_axis, X_mesh>, J_axis> const operation;
      CHECK(os::bytes_of(operation, q, k, v) == (moved.bytes + t::ranks() - 1) / t::ranks());

      // The result is scattered, and the width is divided, too.
      auto const wide_q = t::placed<os::tensor<double, B, L, I, J/Y>>(m, o.q);
      auto const wide_k = t::placed<os::tensor<double, B, L, K/X, J/Y>>(m, o.k);
      auto const wide_v = t::placed<os::tensor<double, B, L, K/X, J>>(m, o.v);
      CHECK(t::disagreements(m, os::attention<I, K/X, J/Y, B, I/X, L, J>(wide_q, wide_k, wide_v),
                             by_loops(o.q, o.k, o.v, {}), is_close) == 0);
    }
  });
}

TEST_CASE("groups of heads share keys and values; blocks of a body attend as tensors do") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter e : t::usual_extents()) {
      e['G'] = 3;
      INFO(m.text(), t::text_of(e));
      operands const o(e, "BILGJ");
      auto const want = by_loops(o.q, o.k, o.v, {.causal = true});
      auto const q = t::placed<os::tensor<double, B/X, I, L/Y, G, J>>(m, o.q);
      auto const k = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.k);
      auto const v = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.v);
      CHECK(t::disagreements(m, os::attention<I, K, J>(q, k, v, os::causal), want, is_close) == 0);
      auto const in_body = os::shard_map<B/X, I, L/Y, G, J>(
          [](auto a, auto b, auto c) { return os::attention<I, K, J>(a, b, c, os::causal); }, q, k, v);
      CHECK(t::disagreements(m, in_body, want, is_close) == 0);
    }
  });
}

TEST_CASE("latent attention is attention to keys and queries that have a rotary part behind them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter e : t::usual_extents()) {
      e['G'] = 3;
      INFO(m.text(), t::text_of(e));
      operands const o(e);
      auto const q_rotary = t::whole_numbers<double>("BLIG", e, 5);
      auto const k_rotary = t::whole_numbers<double>("BKG", e, 6);
      auto const with_rotary = [&](t::global_tensor<double> const& a, t::global_tensor<double> const& rotary) {
        t::global_tensor<double> both{a.labels, a.extents, {}};
        both.extents['J'] += 3;
        t::for_each_index(both.labels, both.extents, [&](t::extents_by_letter at) {
          std::int64_t const beyond = at.at('J') - e.at('J');
          at['G'] = beyond;
          both.values.push_back(beyond < 0 ? a.values[a.position(at)] : rotary.values[rotary.position(at)]);
        });
        return both;
      };
      auto const want =
          by_loops(with_rotary(o.q, q_rotary), with_rotary(o.k, k_rotary), o.v, {.causal = true, .from = 1});
      auto const rotary = t::placed<os::tensor<double, B/X, L/Y, I, G>>(m, q_rotary);
      auto const q = t::placed<os::tensor<double, B/X, L/Y, I, J>>(m, o.q);
      auto const k = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.k);
      auto const v = t::placed<os::tensor<double, B/X, L/Y, K, J>>(m, o.v);
      auto const shared = t::placed<os::tensor<double, B/X, K, G>>(m, k_rotary);
      os::tensor<double, B/X, L/Y, I, J> out;
      auto const moved = t::traffic_of(
          [&] { out = os::latent_attention<I, K, J>(q, k, v, rotary, shared, os::causal, os::from_position(1)); });
      CHECK(moved.calls == 0);
      CHECK(t::disagreements(m, out, want, is_close) == 0);
    }
  });
}

namespace {

struct is_not_rounded {
  KOKKOS_FUNCTION int operator()(os::bfloat16 a, float b) const { return a == os::bfloat16(b) ? 0 : 1; }
};

}  // namespace

TEST_CASE("numbers of 16 bits attend in float") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const q = os::cast<os::bfloat16>(os::random<float, B/X, I, J>(mesh, B = 9, I = 5, J = 8, os::seed(1)));
  auto const k = os::cast<os::bfloat16>(os::random<float, B/X, K, J>(mesh, B = 9, K = 7, J = 8, os::seed(2)));
  auto const narrow = os::attention<I, K, J>(q, k, k);
  auto const wide = os::attention<I, K, J>(os::cast<float>(q), os::cast<float>(k), os::cast<float>(k));
  auto const wrong = os::map(is_not_rounded{}, narrow, wide);
  CHECK(os::value(os::sum<>(wrong)) == 0);
}

TEST_CASE("a cache takes positions until it is full, and is what it was after an error") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const room{{'B', 2}, {'K', 7}, {'J', 3}}, one{{'B', 2}, {'K', 3}, {'J', 3}},
        more{{'B', 2}, {'K', 5}, {'J', 3}};
    using cached = os::tensor<double, B/Y, K/X, J>;
    using fresh = os::tensor<double, B/Y, K, J>;
    auto const g = t::whole_numbers<double>("BKJ", one, 3);
    t::global_tensor<double> zero = t::whole_numbers<double>("BKJ", room, 1);
    for (double& v : zero.values) v = 0;
    INFO(m.text());
    os::kv_cache cache{t::placed<cached>(m, zero), t::placed<cached>(m, zero)};
    auto const rows = t::placed<fresh>(m, g);
    auto const twice = os::scale(rows, 2.0);
    os::append<K/X>(cache, rows, twice);
    for (std::int64_t k = 0; k < 3; ++k) {  // one position at a time
      t::global_tensor<double> row = t::whole_numbers<double>("BJ", one, 3);
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t j = 0; j < 3; ++j)
          row.values[b * 3 + j] = g.values[(b * 3 + static_cast<std::size_t>(k)) * 3 + j];
      auto const next = t::placed<os::tensor<double, B / Y, J>>(m, row);
      os::append<K / X>(cache, next, os::scale(next, 2.0));
    }
    CHECK(cache.length == 6);
    CHECK_THROWS_AS(os::append<K/X>(cache, rows, rows), os::error);  // three more do not fit
    auto const five = t::placed<fresh>(m, t::whole_numbers<double>("BKJ", more, 3));
    CHECK_THROWS_AS(os::append<K/X>(cache, rows, five), os::error);
    CHECK(cache.length == 6);
    t::global_tensor<double> want = zero, doubled = zero;
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t k = 0; k < 6; ++k)
        for (std::int64_t j = 0; j < 3; ++j) {
          auto const at = static_cast<std::size_t>((b * 7 + k) * 3 + j);
          want.values[at] = g.values[static_cast<std::size_t>((b * 3 + k % 3) * 3 + j)];
          doubled.values[at] = 2 * want.values[at];
        }
    CHECK(t::disagreements(m, cache.keys, want) == 0);
    CHECK(t::disagreements(m, cache.values, doubled) == 0);
  });
}
