// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::attention with os::ring, and os::stripe, against plain loops: in one direction and both, causal and not, in
/// order and striped, groups of heads, uneven parts; moved bytes and multiplications, by count.
// ranks: 1 2 3 4 8
// gpu: 4

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/attended_pairs.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// B: batches, L: heads of keys, G: queries' heads of each, I: queries, K: keys, J: the head's width.
OSTRAKA_AXIS(G);
OSTRAKA_AXIS(R);

t::global_tensor<double> by_loops(t::global_tensor<double> const& q, t::global_tensor<double> const& k,
                                  t::global_tensor<double> const& v, bool causal) {
  t::attention_by_loops a{q, k, v, q, causal};
  a.run();
  return a.out;
}

constexpr auto is_close = [](double got, double wanted) { return std::abs(got - wanted) <= 1e-13; };

std::int64_t position_in_stripes(std::int64_t index, std::int64_t extent, std::int64_t n) {
  std::int64_t const chunk = extent / (2 * n), number = index / chunk, device = number / 2;
  return (number % 2 == 0 ? device : 2 * n - 1 - device) * chunk + index % chunk;
}

/// The same tensor with an axis in the order of stripes.
template <class T>
t::global_tensor<T> striped(t::global_tensor<T> const& g, char axis, std::int64_t n) {
  t::global_tensor<T> out = g;
  t::for_each_index(g.labels, g.extents, [&](t::extents_by_letter at) {
    std::size_t const to = g.position(at);
    at[axis] = position_in_stripes(at.at(axis), g.extents.at(axis), n);
    out.values[to] = g.values[g.position(at)];
  });
  return out;
}

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 2}, {'I', 16}, {'J', 3}, {'K', 16}, {'L', 2}, {'G', 2}},
          {{'B', 1}, {'I', 48}, {'J', 4}, {'K', 48}, {'L', 3}, {'G', 1}},
          {{'B', 3}, {'I', 7}, {'J', 2}, {'K', 7}, {'L', 2}, {'G', 3}},   // uneven
          {{'B', 1}, {'I', 3}, {'J', 2}, {'K', 10}, {'L', 1}, {'G', 2}},  // fewer queries than devices
          {{'B', 2}, {'I', 9}, {'J', 0}, {'K', 2}, {'L', 2}, {'G', 1}},   // no width, fewer keys than devices
          {{'B', 1}, {'I', 4}, {'J', 2}, {'K', 0}, {'L', 1}, {'G', 1}}};
}

struct operands {
  explicit operands(t::extents_by_letter const& e)
      : q(t::whole_numbers<double>("BLGIJ", e, 1)),
        k(t::whole_numbers<double>("BLKJ", e, 2)),
        v(t::whole_numbers<double>("BLKJ", e, 3)) {
    for (t::global_tensor<double>* g : {&q, &k, &v})
      for (double& x : g->values) x *= 0.25;
  }
  t::global_tensor<double> q, k, v;
};

using queries = os::tensor<double, B/Y, L, G/Z, I/X, J>;
using keys = os::tensor<double, B/Y, L, K/X, J>;

os::mesh<X_mesh, Y_mesh, Z_mesh> mesh_of(t::test_mesh const& m) { return os::mesh<X_mesh, Y_mesh, Z_mesh>(m.handle()); }

void check_traffic(std::int64_t predicted, t::traffic const& moved) {
  CHECK(std::abs(predicted * t::ranks() - moved.bytes) <= t::ranks());
}

}  // namespace

TEST_CASE("keys and values circulate, one way and both ways, causal and not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      operands const o(e);
      auto const q = t::placed<queries>(m, o.q);
      auto const k = t::placed<keys>(m, o.k), v = t::placed<keys>(m, o.v);
      auto const all = by_loops(o.q, o.k, o.v, false), earlier = by_loops(o.q, o.k, o.v, true);
      queries out;
      auto moved = t::traffic_of([&] { out = os::attention<I, K/X, J>(q, k, v, os::ring); });
      CHECK(t::disagreements(m, out, all, is_close) == 0);
      using one_way = os::operation::ring_attention<I_axis, os::over<K_axis, X_mesh>, J_axis,
                                                    os::detail::ring_way<false, false, false>>;
      std::int64_t const gathered = os::plan_of<os::dims<B/Y, L, K, J>, keys>.bytes(
          B = e.at('B'), L = e.at('L'), K = e.at('K'), J = e.at('J'), X = m.size("X"), Y = m.size("Y"));
      check_traffic(os::bytes_of(one_way{}, q, k, v), moved);
      if (e.at('I') >= m.size("X"))  // a device without queries needs no keys
        CHECK(std::abs(os::bytes_of(one_way{}, q, k, v) - 2 * gathered) <= 2);

      out = os::attention<I, K/X, J>(q, k, v, os::ring_both_ways);
      CHECK(t::disagreements(m, out, all, is_close) == 0);

      using causal_way = os::operation::ring_attention<I_axis, os::over<K_axis, X_mesh>, J_axis,
                                                       os::detail::ring_way<true, false, false>>;
      moved = t::traffic_of([&] { out = os::attention<I, K/X, J>(q, k, v, os::causal, os::ring); });
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);
      check_traffic(os::bytes_of(causal_way{}, q, k, v), moved);
      if (e.at('I') == 16 && 16 % m.size("X") == 0)
        CHECK(2 * os::bytes_of(causal_way{}, q, k, v) == os::bytes_of(one_way{}, q, k, v));  // half the way

      out = os::attention<I, K/X, J>(q, k, v, os::ring_both_ways, os::causal);
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);

      // Gathered keys give the same to rounding.
      auto const whole = os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), os::causal);
      CHECK(t::disagreements(m, whole, earlier, is_close) == 0);
    }
  });
}

TEST_CASE("striped sequences attend by their positions, in rings and to gathered keys") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    for (std::int64_t const chunk : {1, 3}) {
      t::extents_by_letter const e{{'B', 2}, {'I', 2 * n * chunk}, {'J', 3}, {'K', 2 * n * chunk}, {'L', 2}, {'G', 2}};
      INFO(m.text(), t::text_of(e));
      operands const o(e);
      auto const q = t::placed<queries>(m, striped(o.q, 'I', n));
      auto const k = t::placed<keys>(m, striped(o.k, 'K', n)), v = t::placed<keys>(m, striped(o.v, 'K', n));
      auto const earlier = striped(by_loops(o.q, o.k, o.v, true), 'I', n);
      auto const all = striped(by_loops(o.q, o.k, o.v, false), 'I', n);
      queries out;
      auto const moved =
          t::traffic_of([&] { out = os::attention<I, K/X, J>(q, k, v, os::causal, os::striped<X>, os::ring); });
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);
      using way = os::operation::ring_attention<I_axis, os::over<K_axis, X_mesh>, J_axis,
                                                os::detail::ring_way<true, true, false>>;
      using whole_way = os::operation::ring_attention<I_axis, os::over<K_axis, X_mesh>, J_axis,
                                                      os::detail::ring_way<false, false, false>>;
      check_traffic(os::bytes_of(way{}, q, k, v), moved);
      CHECK(4 * os::bytes_of(way{}, q, k, v) == 3 * os::bytes_of(whole_way{}, q, k, v));
      out = os::attention<I, K/X, J>(q, k, v, os::causal, os::striped<X>, os::ring_both_ways);
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);
      out = os::attention<I, K/X, J>(q, k, v, os::striped<X>, os::ring);
      CHECK(t::disagreements(m, out, all, is_close) == 0);
      out = os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), os::causal, os::striped<X>);
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);
      // Rotary parts of zeros change no score.
      auto const q_rotary =
          os::zeros<double, B/Y, L, G/Z, I/X, R>(mesh_of(m), B = 2, L = 2, G = 2, I = e.at('I'), R = 2);
      auto const k_rotary = os::zeros<double, K, R>(mesh_of(m), K = e.at('K'), R = 2);
      out = os::latent_attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), q_rotary, k_rotary, os::causal,
                                          os::striped<X>, os::score_scale(1 / std::sqrt(3.0)));
      CHECK(t::disagreements(m, out, earlier, is_close) == 0);
    }
    auto const odd = os::zeros<double, I/X, J>(mesh_of(m), I = 2 * n + 1, J = 1);
    auto const odd_keys = os::zeros<double, K/X, J>(mesh_of(m), K = 2 * n + 1, J = 1);
    CHECK_THROWS_AS(static_cast<void>(os::stripe<I/X>(odd)), os::error);
    CHECK_THROWS_AS(static_cast<void>(os::attention<I, K/X, J>(odd, odd_keys, odd_keys, os::striped<X>, os::ring)),
                    os::error);
  });
}

TEST_CASE("causal work is the same on all devices where sequences are striped, and otherwise it is not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    INFO(m.text());
    auto const q = os::zeros<float, I/X, J>(mesh_of(m), I = 8 * n, J = 2);
    auto const k = os::zeros<float, K/X, J>(mesh_of(m), K = 8 * n, J = 2);
    auto const work_of = [](auto const& attend) {
      std::int64_t const before = os::engine::attended_chunks;
      static_cast<void>(attend());
      return os::engine::attended_chunks - before;
    };
    std::int64_t const here = m.coordinate("X", t::rank());
    for (int const way : {0, 1}) {
      std::int64_t const in_order = work_of([&] {
        return way == 0 ? os::attention<I, K/X, J>(q, k, k, os::causal, os::ring)
                        : os::attention<I, K/X, J>(q, k, k, os::causal, os::ring_both_ways);
      });
      std::int64_t const in_stripes = work_of([&] {
        return way == 0 ? os::attention<I, K/X, J>(q, k, k, os::causal, os::striped<X>, os::ring)
                        : os::attention<I, K/X, J>(q, k, k, os::causal, os::striped<X>, os::ring_both_ways);
      });
      CHECK(in_order == 4 * here + 3);
      CHECK(in_stripes == 2 * n + 1);
    }
    CHECK(work_of([&] { return os::attention<I, K/X, J>(q, k, k, os::ring); }) == 4 * n);
  });
}

namespace {

// Bytes that this rank had sent when the weights of each product were made.
std::vector<std::int64_t> sent_before_weights;

}  // namespace

TEST_CASE("the next message is under way while products are computed, and no other one") {
  using namespace Kokkos::Tools::Experimental;
  std::int64_t const n = t::ranks(), own = 96;  // so many rows that tools hear of their kernels
  os::mesh<X_mesh> const m = os::make_mesh(X = n);
  auto const q = os::random<double, I/X, J>(m, I = own * n, J = 4);
  auto const k = os::random<double, K/X, J>(m, K = own * n, J = 4);
  std::int64_t const message = own * (4 + 4) * 8;
  sent_before_weights.clear();
  std::int64_t const before = t::traffic_so_far().bytes;
  set_begin_parallel_for_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    if (std::string(name) == "ostraka online softmax") sent_before_weights.push_back(t::traffic_so_far().bytes);
  });
  static_cast<void>(os::attention<I, K/X, J>(q, k, k, os::ring));
  set_begin_parallel_for_callback(nullptr);
  REQUIRE(static_cast<std::int64_t>(sent_before_weights.size()) == n);
  for (std::int64_t step = 0; step < n; ++step)
    CHECK(sent_before_weights[static_cast<std::size_t>(step)] - before == std::min(step + 1, n - 1) * message);
}

TEST_CASE("a sequence is striped and put in order again, and positions are given") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    for (std::int64_t const chunk : {0, 1, 3}) {
      t::extents_by_letter const e{{'B', 2}, {'I', 2 * n * chunk}, {'J', 3}};
      INFO(m.text(), t::text_of(e));
      auto const g = t::whole_numbers<double>("BIJ", e, 5), last = t::whole_numbers<double>("BI", e, 6);
      auto const want = chunk == 0 ? g : striped(g, 'I', n);
      auto const a = t::placed<os::tensor<double, B/Y, I/X, J>>(m, g);
      os::tensor<double, B/Y, I/X, J> b;
      auto const moved = t::traffic_of([&] { b = os::stripe<I/X>(a); });
      CHECK(t::disagreements(m, b, want) == 0);
      CHECK(t::disagreements(m, os::unstripe<I/X>(b), g) == 0);
      check_traffic(os::bytes_of(os::operation::stripe<os::over<I_axis, X_mesh>>{}, a), moved);
      auto const whole = t::placed<os::tensor<double, B/Y, I, J>>(m, g);
      CHECK(t::traffic_of([&] { CHECK(t::disagreements(m, os::stripe<I/X>(whole), want) == 0); }).bytes == 0);
      auto const of_rank_two = t::placed<os::tensor<double, B/Y, I/X>>(m, last);
      CHECK(t::disagreements(m, os::stripe<I/X>(of_rank_two), chunk == 0 ? last : striped(last, 'I', n)) == 0);
      t::global_tensor<std::int64_t> positions{"I", e, {}};
      for (std::int64_t i = 0; i < 2 * n * chunk; ++i)
        positions.values.push_back(position_in_stripes(i, 2 * n * chunk, n));
      CHECK(t::disagreements(m, os::striped_positions<I/X>(mesh_of(m), I = 2 * n * chunk), positions) == 0);
    }
  });
}

namespace {
struct differ {
  KOKKOS_FUNCTION double operator()(double x, double y) const { return x == y ? 0.0 : 1.0; }
};
}  // namespace

TEST_CASE("rotations of a striped sequence go by its positions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'B', 2}, {'I', 4 * n}, {'J', 3}, {'K', 2}};
    INFO(m.text());
    auto const a = t::placed<os::tensor<double, B/Y, I/X, J, K>>(m, t::whole_numbers<double>("BIJK", e, 5));
    auto const want = os::stripe<I/X>(os::rope<I, J, K>(a, os::from_position(2)));
    auto const got = os::rope<I, J, K>(os::stripe<I/X>(a), os::striped<X>, os::from_position(2));
    auto const at = os::striped_positions<I/X>(mesh_of(m), I = 4 * n);
    auto const given = os::rope<I, J, K>(os::stripe<I/X>(a), at, os::from_position(2));
    CHECK(os::value(os::sum<>(os::map(differ{}, got, want))) == 0);
    CHECK(os::value(os::sum<>(os::map(differ{}, given, want))) == 0);
  });
}

TEST_CASE("16 bits are computed in float, blocks of a body attend as tensors do, and under rules a ring may be none") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 3}, {'I', 12}, {'J', 4}, {'K', 12}, {'L', 2}, {'G', 2}};
    INFO(m.text());
    operands const o(e);
    auto const want = by_loops(o.q, o.k, o.v, true);
    auto const q = t::placed<queries>(m, o.q);
    auto const k = t::placed<keys>(m, o.k), v = t::placed<keys>(m, o.v);
    auto const narrow = [](auto const& a) { return os::cast<os::bfloat16>(a); };
    auto const out = os::attention<I, K/X, J>(narrow(q), narrow(k), narrow(v), os::causal, os::ring);
    CHECK(t::disagreements(m, os::cast<double>(out), want, [](double got, double wanted) {
            return std::abs(got - wanted) <= 0.004 * std::abs(wanted) + 1e-6;
          }) == 0);

    auto const in_body = os::shard_map<os::manual(Z), B/Y, L, G/Z, I/X, J>(
        [](auto const& a, auto const& b, auto const& c) {
          return os::attention<I, K/X, J>(a, b, c, os::causal, os::ring);
        },
        q, k, v);
    CHECK(t::disagreements(m, in_body, want, is_close) == 0);

    // The width stands in front of the queries, and heads behind them.
    auto const turned = os::attention<I, K/X, J>(os::transpose<J, B, I, G, L>(q), os::transpose<K, B, J, L>(k),
                                                 os::transpose<K, L, B, J>(v), os::causal, os::ring);
    CHECK(t::disagreements(m, os::transpose<B, L, G, I, J>(turned), want, is_close) == 0);

    auto const whole = os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), os::causal, os::ring);
    CHECK(t::disagreements(m, whole, want, is_close) == 0);
  });
}
