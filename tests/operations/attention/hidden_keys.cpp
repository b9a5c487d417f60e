// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Keys that a mask, os::causal or os::from_position hides have no part in attention, even if they are NaN or infinite:
/// whole keys and divided ones, gathered ones and rings, in order and striped, groups of heads, in a body, latent, of
/// 16 bits. The oracle is plain loops over the visible keys.
// ranks: 1 2 3 4
// sham: always

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/attended_pairs.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);
OSTRAKA_AXIS(R);

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 2}, {'I', 5}, {'J', 3}, {'K', 9}, {'L', 2}, {'G', 2}},
          {{'B', 1}, {'I', 8}, {'J', 2}, {'K', 8}, {'L', 1}, {'G', 1}},
          {{'B', 1}, {'I', 1}, {'J', 2}, {'K', 7}, {'L', 1}, {'G', 3}},
          {{'B', 1}, {'I', 3}, {'J', 1}, {'K', 2}, {'L', 1}, {'G', 1}}};
}

template <class A>
void check(t::test_mesh const& m, char const* what, A const& got, t::global_tensor<double> const& wanted) {
  INFO(what);
  CHECK(t::disagreements(m, got, wanted, t::agrees_or_neither_is_finite) == 0);
}

}  // namespace

TEST_CASE("hidden keys and values may be anything") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents())
      for (t::attention_by_loops const& a : t::attentions_with_hidden_elements(e)) {
        INFO(m.text(), t::text_of(e), "causal: ", a.causal, " from: ", a.from);
        auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, a.mask);
        auto const with_mask = [&](auto const& attend) {
          return a.causal ? attend(mask, os::causal, os::from_position(a.from)) : attend(mask);
        };
        {
          auto const q = t::placed<os::tensor<double, B / X, L, G / Y, I, J>>(m, a.q);
          auto const k = t::placed<os::tensor<double, B / X, L, K, J>>(m, a.k);
          auto const v = t::placed<os::tensor<double, B / X, L, K, J>>(m, a.v);
          auto const whole = [&](auto const&... o) { return os::attention<I, K, J>(q, k, v, o...); };
          check(m, "whole keys", with_mask(whole), a.out);
          if (a.causal) check(m, "whole keys, causal", whole(os::causal, os::from_position(a.from)), a.out);
        }
        {
          auto const q = t::placed<os::tensor<double, B, L, G / Y, I, J>>(m, a.q);
          auto const k = t::placed<os::tensor<double, B, L, K / X, J>>(m, a.k);
          auto const v = t::placed<os::tensor<double, B, L, K / X, J>>(m, a.v);
          auto const by_key = t::placed<os::tensor<std::int32_t, I, K / X>>(m, a.mask);
          auto const divided = [&](auto const&... o) { return os::attention<I, K / X, J>(q, k, v, by_key, o...); };
          auto const scattered = [&](auto const&... o) {
            return os::attention<I, K / X, J, B, L, G / Y, I / X, J>(q, k, v, by_key, o...);
          };
          if (a.causal) {
            check(m, "divided keys, causal", divided(os::causal, os::from_position(a.from)), a.out);
            check(m, "to divided queries, causal", scattered(os::causal, os::from_position(a.from)), a.out);
          } else {
            check(m, "divided keys", divided(), a.out);
            check(m, "to divided queries", scattered(), a.out);
          }
        }
        if (a.causal && a.from == 0) {
          auto const q = t::placed<os::tensor<double, B / Y, L, G / Z, I / X, J>>(m, a.q);
          auto const k = t::placed<os::tensor<double, B / Y, L, K / X, J>>(m, a.k);
          auto const v = t::placed<os::tensor<double, B / Y, L, K / X, J>>(m, a.v);
          auto const gathered = [&](auto const&... o) {
            return os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), os::causal, o...);
          };
          check(m, "gathered keys", gathered(), a.out);
          check(m, "ring", os::attention<I, K / X, J>(q, k, v, os::causal, os::ring), a.out);
          check(m, "both ways round", os::attention<I, K / X, J>(q, k, v, os::causal, os::ring_both_ways), a.out);
          if (e.at('I') == e.at('K') && e.at('I') % (2 * m.size("X")) == 0) {
            auto const sq = os::stripe<I / X>(q);
            auto const sk = os::stripe<K / X>(k), sv = os::stripe<K / X>(v);
            auto const in_order = [](auto const& out) { return os::unstripe<I / X>(out); };
            check(m, "striped ring",
                  in_order(os::attention<I, K / X, J>(sq, sk, sv, os::causal, os::striped<X>, os::ring)), a.out);
          }
        }
      }
  });
}

TEST_CASE("in a body, latent, of 16 bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 4}, {'J', 2}, {'K', 8}, {'L', 2}, {'G', 1}};
    t::attention_by_loops const a = t::attentions_with_hidden_elements(e).front();
    INFO(m.text());
    REQUIRE(a.from == 2);
    auto const q = t::placed<os::tensor<double, B / X, L, G, I, J>>(m, a.q);
    auto const k = t::placed<os::tensor<double, B / X, L, K, J>>(m, a.k),
               v = t::placed<os::tensor<double, B / X, L, K, J>>(m, a.v);
    for (double const x : a.out.values) REQUIRE(std::isfinite(x));
    auto const in_body = os::shard_map<B / X, L, G, I, J>(
        [](auto x, auto y, auto z) { return os::attention<I, K, J>(x, y, z, os::causal, os::from_position(2)); }, q, k,
        v);
    check(m, "in a body", in_body, a.out);
    auto const nothing = os::scale(q, 0.0);
    auto const no_keys = os::map([](double) { return 0.0; }, k);
    auto const scale = os::score_scale(1 / std::sqrt(2.0));
    check(m, "latent",
          os::latent_attention<I, K, J>(q, k, v, os::rename<J, R>(nothing), os::rename<J, R>(no_keys), os::causal,
                                        os::from_position(2), scale),
          a.out);
    auto const narrow = [](auto const& x) { return os::cast<os::bfloat16>(x); };
    auto const of_16_bits =
        os::cast<double>(os::attention<I, K, J>(narrow(q), narrow(k), narrow(v), os::causal, os::from_position(2)));
    CHECK(t::disagreements(m, of_16_bits, a.out,
                           [](double got, double want) { return std::abs(got - want) <= 0.05; }) == 0);
  });
}

// pytorch#101967
TEST_CASE("a key that a mask hides from all queries is not seen") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2}, {'K', 2}, {'J', 4}};
    t::global_tensor<double> q{"IJ", e, {0, 1, 2, 3, 4, 5, 6, 7}}, k{"KJ", e, q.values}, v = k;
    k.values[4] = v.values[6] = no_number;
    t::global_tensor<double> const wanted{"IJ", e, {0, 1, 2, 3, 0, 1, 2, 3}};
    t::global_tensor<std::int32_t> const mask{"IK", e, {1, 0, 1, 0}};
    INFO(m.text());
    auto const queries = t::placed<os::tensor<double, I, J>>(m, q);
    check(m, "divided",
          os::attention<I, K / X, J>(queries, t::placed<os::tensor<double, K / X, J>>(m, k),
                                     t::placed<os::tensor<double, K / X, J>>(m, v),
                                     t::placed<os::tensor<std::int32_t, I, K / X>>(m, mask)),
          wanted);
    check(m, "whole",
          os::attention<I, K, J>(queries, t::placed<os::tensor<double, K, J>>(m, k),
                                 t::placed<os::tensor<double, K, J>>(m, v),
                                 t::placed<os::tensor<std::int32_t, I, K>>(m, mask)),
          wanted);
  });
}
