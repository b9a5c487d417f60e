// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Attention with windows, documents, a soft cap, a bias, ALiBi and sinks against plain loops: whole keys and divided
/// ones, gathered ones and rings, in order and striped, groups of heads, in a body, latent, of 16 bits; hidden keys may
/// be NaN.
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/on_meshes.hpp"
#include "support/scored_pairs.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);
OSTRAKA_AXIS(R);

std::vector<t::extents_by_letter> some_extents() {
  std::vector<t::extents_by_letter> all{{{'B', 2}, {'I', 8}, {'J', 2}, {'K', 8}, {'L', 2}, {'G', 2}},
                                        {{'B', 1}, {'I', 7}, {'J', 3}, {'K', 12}, {'L', 1}, {'G', 2}}};
  for (std::int64_t i = 0; i <= 3; ++i)
    for (std::int64_t k = 0; k <= 3; ++k) all.push_back({{'B', 1}, {'I', i}, {'J', 2}, {'K', k}, {'L', 1}, {'G', 1}});
  return all;
}

template <class A>
void check(t::test_mesh const& m, char const* what, A const& got, t::global_tensor<double> const& wanted) {
  INFO(what);
  CHECK(t::disagreements(m, got, wanted, t::scores_agree) == 0);
}

/// Calls f with all options of a case; those that it lacks change nothing.
template <class Bias, class Heads, class QueryIds, class KeyIds, class F>
auto with_options(t::test_mesh const& m, t::scored_by_loops const& a, F const& f) {
  return f(os::window(a.window).and_first(a.first),
           os::segments(t::placed<QueryIds>(m, a.query_segments), t::placed<KeyIds>(m, a.key_segments)),
           os::bias(t::placed<Bias>(m, a.bias)), os::alibi(t::placed<Heads>(m, a.slopes)),
           os::sinks(t::placed<Heads>(m, a.sinks)));
}

template <class F>
void for_each_case(F const& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents())
      for (bool const with_cap : {false, true})
        for (t::scored_by_loops const& a : t::attentions_with_options(e, with_cap)) {
          INFO(m.text(), t::text_of(e), a.name, " causal: ", a.causal, " cap: ", a.cap);
          f(m, e, a);
        }
  });
}

/// f(os::causal, …) or f(…).
template <class F, class... Options>
auto causal_if(bool causal, F const& f, Options const&... options) {
  return causal ? f(os::causal, options...) : f(options...);
}
template <class F, class... Options>
auto capped_if(double cap, F const& f, Options const&... options) {
  return cap > 0 ? f(os::soft_cap(cap), options...) : f(options...);
}

}  // namespace

TEST_CASE("whole keys: in tiles, and of scores under a mask") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const& e, t::scored_by_loops const& a) {
    auto const q = t::placed<os::tensor<double, B/X, L, G/Y, I/Z, J>>(m, a.q);
    auto const k = t::placed<os::tensor<double, B/X, L, K, J>>(m, a.k);
    auto const v = t::placed<os::tensor<double, B/X, L, K, J>>(m, a.v);
    t::global_tensor<std::int32_t> const all{
        "IK", e, std::vector<std::int32_t>(static_cast<std::size_t>(e.at('I') * e.at('K')), 1)};
    auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, all);
    with_options<os::tensor<double, L, I/Z, K>, os::tensor<double, L, G>, os::tensor<std::int32_t, B/X, I>,
                 os::tensor<std::int32_t, B, K>>(m, a, [&](auto const&... options) {
      auto const attend = [&](auto const&... o) {
        return os::attention<I, K, J>(q, k, v, options..., os::from_position(a.from), o...);
      };
      auto const run = [&](auto const&... o) {
        return causal_if(a.causal, [&](auto const&... c) { return capped_if(a.cap, attend, o..., c...); });
      };
      check(m, "tiles", run(), a.out);
      check(m, "scores", run(mask), a.out);
      return 0;
    });
  });
}

TEST_CASE("divided keys, and to divided queries") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const&, t::scored_by_loops const& a) {
    auto const q = t::placed<os::tensor<double, B, L, G/Y, I, J>>(m, a.q);
    auto const k = t::placed<os::tensor<double, B, L, K/X, J>>(m, a.k);
    auto const v = t::placed<os::tensor<double, B, L, K/X, J>>(m, a.v);
    with_options<os::tensor<double, L, I, K/X>, os::tensor<double, L, G/Y>, os::tensor<std::int32_t, B, I>,
                 os::tensor<std::int32_t, B, K/X>>(m, a, [&](auto const&... options) {
      auto const run = [&](auto const& attend) {
        return causal_if(a.causal, [&](auto const&... c) {
          return capped_if(a.cap, attend, options..., os::from_position(a.from), c...);
        });
      };
      check(m, "divided", run([&](auto const&... o) { return os::attention<I, K/X, J>(q, k, v, o...); }), a.out);
      check(m, "to divided queries",
            run([&](auto const&... o) { return os::attention<I, K/X, J, B, L, G/Y, I/X, J>(q, k, v, o...); }),
            a.out);
      return 0;
    });
  });
}

TEST_CASE("rings, and striped sequences") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const& e, t::scored_by_loops const& in_order) {
    if (in_order.from != 0) return;
    using queries = os::tensor<double, B/Y, L, G/Z, I/X, J>;
    using keys = os::tensor<double, B/Y, L, K/X, J>;
    auto const run = [&](t::scored_by_loops const& a, char const* what, auto const& attend, auto const&... more) {
      auto const q = t::placed<queries>(m, a.q);
      auto const k = t::placed<keys>(m, a.k), v = t::placed<keys>(m, a.v);
      with_options<os::tensor<double, L, I/X, K>, os::tensor<double, L, G/Z>, os::tensor<std::int32_t, B, I/X>,
                   os::tensor<std::int32_t, B/Y, K>>(m, a, [&](auto const&... options) {
        check(m, what,
              causal_if(a.causal,
                        [&](auto const&... c) {
                          return capped_if(
                              a.cap, [&](auto const&... o) { return attend(q, k, v, o...); }, options..., more...,
                              c...);
                        }),
              a.out);
        return 0;
      });
    };
    auto const ring = [](auto const& q, auto const& k, auto const& v, auto const&... o) {
      return os::attention<I, K/X, J>(q, k, v, o...);
    };
    auto const gathered = [](auto const& q, auto const& k, auto const& v, auto const&... o) {
      return os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), o...);
    };
    run(in_order, "ring", ring, os::ring);
    run(in_order, "both ways round", ring, os::ring_both_ways);
    std::int64_t const n = m.size("X");
    if (e.at('I') == 0 || e.at('I') != e.at('K') || e.at('I') % (2 * n) != 0) return;
    t::scored_by_loops const a = in_order.striped(n);
    run(a, "striped ring", ring, os::ring, os::striped<X>);
    run(a, "striped, both ways round", ring, os::ring_both_ways, os::striped<X>);
    run(a, "striped, gathered", gathered, os::striped<X>);
  });
}

TEST_CASE("one option alone, in a body, latent, of 16 bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 6}, {'J', 2}, {'K', 6}, {'L', 2}, {'G', 1}};
    auto const all = t::attentions_with_options(e, false);
    auto const find = [&](char const* name) {
      for (t::scored_by_loops const& a : all)
        if (a.name == name && a.causal) return a;
      return all.front();
    };
    INFO(m.text());
    using queries = os::tensor<double, B/X, L/Y, G, I, J>;
    using keys = os::tensor<double, B/X, L/Y, K, J>;
    t::scored_by_loops a = find("window and first");
    auto const q = t::placed<queries>(m, a.q);
    auto const k = t::placed<keys>(m, a.k), v = t::placed<keys>(m, a.v);
    auto const window = os::window(2).and_first(2);
    check(m, "window", os::attention<I, K, J>(q, k, v, os::causal, window), a.out);
    auto const in_body = os::shard_map<B/X, L/Y, G, I, J>(
        [&](auto x, auto y, auto z) { return os::attention<I, K, J>(x, y, z, os::causal, window); }, q, k, v);
    check(m, "in a body", in_body, a.out);
    auto const nothing = os::scale(q, 0.0);
    auto const no_keys = os::scale(k, 0.0);
    check(m, "latent",
          os::latent_attention<I, K, J>(q, k, v, os::rename<J, R>(nothing), os::rename<J, R>(no_keys), os::causal,
                                        window, os::score_scale(1 / std::sqrt(2.0))),
          a.out);
    auto const narrow = [](auto const& x) { return os::cast<os::bfloat16>(x); };
    auto const sinks = t::placed<os::tensor<double, L, G>>(m, find("alibi and sinks").sinks);
    auto const slopes = t::placed<os::tensor<double, L, G>>(m, find("alibi and sinks").slopes);
    auto const of_16_bits = os::cast<double>(os::attention<I, K, J>(
        narrow(q), narrow(k), narrow(v), os::causal, os::sinks(narrow(sinks)), os::alibi(narrow(slopes))));
    CHECK(t::disagreements(m, of_16_bits, find("alibi and sinks").out,
                           [](double got, double want) { return std::abs(got - want) <= 0.05; }) == 0);
    a = find("segments");
    auto const query_ids = t::placed<os::tensor<std::int32_t, B, I>>(m, a.query_segments);
    auto const key_ids = t::placed<os::tensor<std::int32_t, B, K>>(m, a.key_segments);
    check(m, "segments",
          os::attention<I, K, J>(q, t::placed<keys>(m, a.k), t::placed<keys>(m, a.v), os::causal,
                                 os::segments(query_ids, key_ids)),
          a.out);
    CHECK_THROWS_AS(static_cast<void>(os::attention<I, K, J>(q, k, v, os::window(-1))), os::error);
    for (double const c : {0.0, -1.0, 1e-60, 1e300, std::numeric_limits<double>::quiet_NaN()})
      CHECK_THROWS_AS(static_cast<void>(os::attention<I, K, J>(q, k, v, os::soft_cap(c))), os::error);
    auto const uncapped = os::attention<I, K, J>(q, k, v, os::soft_cap(std::numeric_limits<double>::infinity()));
    CHECK(os::value(os::max<>(os::abs(uncapped - os::attention<I, K, J>(q, k, v)))) < 1e-6f);
  });
}

TEST_CASE("a window moves and multiplies only what it reaches") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X"), own = 8;
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    INFO(m.text());
    auto const q = os::zeros<float, I/X, J>(mesh, I = own * n, J = 2);
    auto const k = os::zeros<float, K/X, J>(mesh, K = own * n, J = 2);
    std::int64_t const part = own * 2 * 2 * 4, rings = t::ranks() / n;
    auto const moved = [&](auto const&... o) {
      return t::traffic_of([&] { static_cast<void>(os::attention<I, K/X, J>(q, k, k, os::ring, o...)); }).bytes;
    };
    // A part is seen by the next device alone while the window is no longer than it is.
    CHECK(moved(os::causal, os::window(own)) == rings * (n - 1) * part);
    CHECK(moved(os::causal, os::window(1)) == 0);
    CHECK(moved(os::causal, os::window(own + 2)) == rings * (n - 1 + (n > 2 ? n - 2 : 0)) * part);
    CHECK(moved(os::causal, os::window(own * n)) == moved(os::causal));
    std::int64_t const before = os::engine::attended_chunks;
    static_cast<void>(os::attention<I, K/X, J>(q, k, k, os::ring, os::causal, os::window(1)));
    CHECK(os::engine::attended_chunks - before == 2);
  });
}
