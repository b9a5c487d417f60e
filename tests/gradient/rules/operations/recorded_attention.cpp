// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Attention that one function records for all shardings, in tiles and by whole scores, and attention that it does not
/// record: gradients by differences of the plain program, with respect to queries, keys and values, each beside
/// variables and beside constants, where slots want another sharding than the operation gives, in regions too.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>

#include "gradient/beside.hpp"
#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T>
using of = os::variable<T>;

using queries = os::tensor<double, B / X, L / Y, I, J>;
using keys = os::tensor<double, B / X, L / Y, K, J>;
using attention = os::operation::attention<std::remove_cvref_t<decltype(I)>, std::remove_cvref_t<decltype(K)>,
                                           std::remove_cvref_t<decltype(J)>>;
using tiled = os::operation::tiled_attention<std::remove_cvref_t<decltype(I)>, std::remove_cvref_t<decltype(K)>,
                                             std::remove_cvref_t<decltype(J)>>;
using tiles = decltype(std::declval<tiled const&>().in_tiles());
template <class... Given>
inline constexpr bool shares_tiles =
    os::detail::check_shared_tiles<std::remove_cvref_t<decltype(I)>, std::remove_cvref_t<decltype(K)>,
                                   std::remove_cvref_t<decltype(J)>, tiles, Given...>();

static_assert(os::detail::shares_attention<attention, of<queries>, of<keys>, of<keys>>);
static_assert(os::detail::shares_weights<attention, of<queries>, keys>);
static_assert(shares_tiles<of<queries>, of<keys>, of<keys>> && shares_tiles<queries, keys, of<keys>>);
// One is a constant, sums are wider than elements, or another derivative is taken.
static_assert(!os::detail::shares_attention<attention, of<queries>, keys, of<keys>>);
using narrow = of<os::tensor<os::bfloat16, B / X, L / Y, I, J>>;
using narrow_keys = of<os::tensor<os::bfloat16, B / X, L / Y, K, J>>;
static_assert(!os::detail::shares_attention<attention, narrow, narrow_keys, narrow_keys>);
static_assert(!shares_tiles<narrow, narrow_keys, narrow_keys>);
static_assert(!os::detail::shares_attention<attention, of<of<queries>>, of<of<keys>>, of<of<keys>>>);
static_assert(!shares_tiles<of<of<queries>>, of<of<keys>>, of<of<keys>>>);

template <class P, class A>
A tensor_beside(P const&, A const& x) {
  return x;
}

/// The gradient of Σ w f(q, k, v)² by each of the three, with `beside(p, x)` for the others.
template <class Q, class KV, class F, class Beside = decltype(t::beside_variables)>
void check(std::int64_t of_queries, F const& f, Beside const& beside = t::beside_variables) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'L', 2}, {'I', of_queries}, {'K', 2}, {'J', 2}};
    INFO(m.text(), t::text_of(e));
    auto const w = t::fractions<queries>(m, e, "BLIJ", 2);
    auto const q = t::fractions<Q>(m, e, "BLIJ", 3);
    auto const k = t::fractions<KV>(m, e, "BLKJ", 4), v = t::fractions<KV>(m, e, "BLKJ", 5);
    auto const loss = [&](auto const& a, auto const& b, auto const& c) {
      auto const y = f(a, b, c);
      return os::sum<>(os::multiply(os::multiply(y, y), w));
    };
    if (of_queries < 10)  // each element is a run of the program
      t::check_by_differences<Q>(m, e, "BLIJ", [&](auto const& p) { return loss(p, beside(p, k), beside(p, v)); });
    t::check_by_differences<KV>(m, e, "BLKJ", [&](auto const& p) { return loss(beside(p, q), p, beside(p, v)); });
    t::check_by_differences<KV>(m, e, "BLKJ", [&](auto const& p) { return loss(beside(p, q), beside(p, k), p); });
  });
}

}  // namespace

TEST_CASE("by whole scores, causal and not, and in tiles, beside variables and constants") {
  auto const by_scores = [](auto const& q, auto const& k, auto const& v) {
    return os::add(os::attention<I, K, J>(q, k, v), os::attention<I, K, J>(q, k, v, os::causal, os::score_scale(0.5)));
  };
  auto const in_tiles = [](auto const& q, auto const& k, auto const& v) {
    return os::attention<I, K, J>(q, k, v, os::causal, os::from_position(1));
  };
  auto const check_beside = [&](auto const& beside) {
    check<queries, keys>(3, by_scores, beside);
    check<queries, keys>(33, in_tiles, beside);
  };
  check_beside(t::beside_variables);
  check_beside([](auto const& p, auto const& a) { return t::constant_beside(p, a); });
  check_beside([](auto const& p, auto const& a) { return tensor_beside(p, a); });
}

TEST_CASE("queries, keys and values that are stored otherwise, gathered again in a region, or divided") {
  using stored_queries = os::tensor<double, B, L / Y, I / X, J>;
  using stored_keys = os::tensor<double, B, L / Y, K, J / X>;
  auto const moved = [](auto const& q, auto const& k, auto const& v) {
    return os::attention<I, K, J>(os::reshard<B / X, L / Y, I, J>(q), os::reshard<B / X, L / Y, K, J>(k),
                                  os::reshard<B / X, L / Y, K, J>(v), os::causal);
  };
  auto const of_divided_keys = [](auto const& q, auto const& k, auto const& v) {
    auto const y = os::attention<I, K / X, J>(os::reshard<B, L / Y, I, J>(q), os::reshard<B, L / Y, K / X, J>(k),
                                              os::reshard<B, L / Y, K / X, J>(v), os::causal);
    return os::reshard<B / X, L / Y, I, J>(y);
  };
  check<stored_queries, stored_keys>(3, moved);
  check<stored_queries, stored_keys>(3, of_divided_keys);
  check<stored_queries, stored_keys>(3, [&](auto const& q, auto const& k, auto const& v) {
    return os::checkpoint(of_divided_keys, os::save_all_but_gathers)(q, k, v);
  });
  for (std::int64_t const of_queries : {3, 33})
    check<stored_queries, stored_keys>(of_queries, [&](auto const& q, auto const& k, auto const& v) {
      return os::checkpoint(moved, os::save_all_but_gathers)(q, k, v);
    });
}
