// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of os::rope, os::dropout and os::attention, by differences of the plain program, for queries, keys,
/// values, heads and batches in every division.
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(W);

template <class Type>
Type numbers(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& letters, std::uint64_t salt) {
  auto g = t::whole_numbers<double>(letters, e, salt);
  for (double& v : g.values) v *= 0.25;
  return t::placed<Type>(m, g);
}

}  // namespace

TEST_CASE("rotations turn back, and a dropout has the same mask again") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using block = os::tensor<double, I/X, J/Y, K>;  // positions, frequencies, pairs
    for (t::extents_by_letter const& e :
         std::vector<t::extents_by_letter>{{{'I', 5}, {'J', 3}, {'K', 2}}, {{'I', 1}, {'J', 2}, {'K', 2}}}) {
      INFO(m.text(), t::text_of(e));
      auto const w = numbers<block>(m, e, "IJK", 1);
      t::check_by_differences<block>(m, e, "IJK", [&](auto const& p) {
        auto const turned = os::rope<I, J, K>(p, os::from_position(3), os::rope_base(50));
        auto const dropped = os::dropout(turned, 0.4, os::seed(7));
        return os::sum<>(os::multiply(os::multiply(dropped, dropped), w));
      });
      auto const positions = t::placed<os::tensor<int, I/X>>(m, t::whole_numbers<int>("I", e, 3));
      t::check_by_differences<block>(
          m, e, "IJK", [&](auto const& p) { return os::sum<>(os::multiply(os::rope<I, J, K>(p, positions), w)); });
      os::rope_scaling const longer{.type = os::rope_type::yarn, .factor = 4, .original_max_position_embeddings = 9};
      auto const frequencies = numbers<os::tensor<double, J/Y>>(m, e, "J", 4);
      t::check_by_differences<block>(m, e, "IJK", [&](auto const& p) {
        auto const turned = os::rope<I, J, K>(p, longer);
        return os::sum<>(os::multiply(os::multiply(turned, os::rope<I, J, K>(p, frequencies, positions)), w));
      });
    }
  });
}

namespace {

template <class A, class W>
auto weighed(A const& a, W const& w) {
  return os::sum<>(os::multiply(a, w));
}

}  // namespace

TEST_CASE("attention with respect to queries, keys and values") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : std::vector<t::extents_by_letter>{
             {{'B', 2}, {'I', 3}, {'J', 3}, {'K', 2}, {'L', 2}}, {{'B', 1}, {'I', 1}, {'J', 5}, {'K', 3}, {'L', 1}}}) {
      INFO(m.text(), t::text_of(e));
      using queries = os::tensor<double, B/Y, L, I/X, K>;
      using keys = os::tensor<double, B/Y, J, K>;
      auto const q = numbers<queries>(m, e, "BLIK", 1);
      auto const k = numbers<keys>(m, e, "BJK", 2), v = numbers<keys>(m, e, "BJK", 3);
      auto const w = numbers<queries>(m, e, "BLIK", 4);
      auto seen = t::whole_numbers<int>("IJ", e, 4);
      for (int& s : seen.values) s = s > -4;
      auto const mask = t::placed<os::tensor<int, I/X, J>>(m, seen);
      t::check_by_differences<queries>(m, e, "BLIK", [&](auto const& p) {
        return weighed(os::attention<I, J, K>(p, k, v, mask, os::score_scale(0.7)), w);
      });
      t::check_by_differences<keys>(m, e, "BJK", [&](auto const& p) {
        return weighed(os::attention<I, J, K>(q, p, os::scale(p, 2.0), os::causal, os::from_position(1)), w);
      });
    }
  });
}

namespace {

constexpr auto to_divided_keys = [](auto const& q, auto const& k) {
  return os::sum<>(os::attention<I, J/X, K>(q, k, k, os::causal));
};
constexpr auto plan = os::gradient_plan<os::tensor<double, B, I, K>, os::tensor<double, B, J/X, K>>(to_divided_keys);
static_assert(plan.unpriced() == 0 && plan.backward.count(os::step::all_reduce) == 2);
static_assert(plan.backward.count(os::step::all_gather) == 0 && plan.backward.count(os::step::all_to_all) == 0);

}  // namespace

TEST_CASE("attention to keys that are divided moves what belongs to queries; keys and values stay") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 3}, {'J', 7}, {'K', 2}};
    INFO(m.text());
    using queries = os::tensor<double, B, I, K>;
    using keys = os::tensor<double, B, J/X, K>;
    auto const q = numbers<queries>(m, e, "BIK", 1), w = numbers<queries>(m, e, "BIK", 4);
    auto const k = numbers<keys>(m, e, "BJK", 2);
    t::check_by_differences<keys>(m, e, "BJK", [&](auto const& p) {
      return weighed(os::attention<I, J/X, K>(q, p, p, os::causal, os::from_position(4)), w);
    });
    auto const loss = [&](auto const& p) { return weighed(os::attention<I, J/X, K>(p, k, k), w); };
    t::check_by_differences<queries>(m, e, "BIK", loss);
    std::int64_t const n = m.size("X"), others = t::ranks() / n;
    std::int64_t const forward = t::traffic_of([&] { static_cast<void>(loss(q)); }).bytes;
    std::int64_t const both = t::traffic_of([&] { static_cast<void>(os::value_and_grad(loss)(q)); }).bytes;
    // One number a query, and the queries' cotangents.
    CHECK(both - forward == others * 2 * (n - 1) * 8 * (6 + 12));
    CHECK(t::traffic_of([&] { static_cast<void>(os::value_and_grad(to_divided_keys)(q, k)); }).bytes ==
          plan.total_bytes(B = 2, I = 3, J = 7, K = 2, X = n, Y = m.size("Y"), Z = m.size("Z")));
  });
}

namespace {

// Blocks of the scores' size: their number, and the most at once.
constexpr std::uint64_t bytes_of_scores = 2 * 5 * 7 * sizeof(double);
int scores_now = 0, scores_most = 0;

void count_scores(std::uint64_t bytes, int by) {
  if (bytes == bytes_of_scores) scores_most = std::max(scores_most, scores_now += by);
}

}  // namespace

TEST_CASE("the backward holds two arrays of the scores' shape at once, as the forward does") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 5}, {'J', 7}, {'K', 3}};
    INFO(m.text());
    auto const q = numbers<os::tensor<double, B, I, K>>(m, e, "BIK", 1);
    auto const k = numbers<os::tensor<double, B, J, K>>(m, e, "BJK", 2);
    auto const w = numbers<os::tensor<double, B, I, K>>(m, e, "BIK", 4);
    using namespace Kokkos::Tools::Experimental;
    scores_now = scores_most = 0;
    set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t bytes) { count_scores(bytes, 1); });
    set_deallocate_data_callback([](auto, char const*, void const*, std::uint64_t bytes) { count_scores(bytes, -1); });
    static_cast<void>(
        os::value_and_grad([&](auto const& p) { return weighed(os::attention<I, J, K>(p, k, k), w); })(q));
    set_allocate_data_callback(nullptr);
    set_deallocate_data_callback(nullptr);
    CHECK(scores_most == 2);
    CHECK(scores_now == 0);
  });
}

TEST_CASE("latent attention, whose rotary keys all heads share; second derivatives of attention") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 2}, {'J', 3}, {'K', 2}, {'L', 2}};
    INFO(m.text());
    auto const q = numbers<os::tensor<double, I, B/X, K>>(m, e, "IBK", 1);
    auto const k = numbers<os::tensor<double, J, B/X, K>>(m, e, "JBK", 2);
    auto const rotary = numbers<os::tensor<double, I, B/X, L>>(m, e, "IBL", 3);
    t::check_by_differences<os::tensor<double, J, L>>(m, e, "JL", [&](auto const& p) {
      return weighed(os::latent_attention<I, J, K>(q, k, k, os::scale(rotary, 2.0), p, os::causal), q);
    });
    t::check_by_differences<os::tensor<double, I, B/X, K>>(m, e, "IBK", [&](auto const& p) {
      auto const r = os::value_and_grad([&](auto const& own, auto const& outer) {
        return weighed(os::attention<I, J, K>(own, k, os::multiply(k, k)), outer);
      })(p, p);
      return os::sum<>(os::multiply(r.gradient, r.gradient));
    });
  });
}

TEST_CASE("attention and rotations of 16 bits are computed in float") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 3}, {'I', 4}, {'J', 4}, {'K', 2}, {'L', 2}};
    INFO(m.text());
    auto const gradient = [&]<class T>(T) {
      auto const of = [&](std::string const& letters, std::uint64_t salt) {
        auto g = t::whole_numbers<T>(letters, e, salt);
        for (T& v : g.values) v = static_cast<T>(static_cast<float>(v) * 0.25f);
        return g;
      };
      auto const k = t::placed<os::tensor<T, B/Y, J, K, L>>(m, of("BJKL", 2));
      auto const w = t::placed<os::tensor<T, B/Y, I/X, K, L>>(m, of("BIKL", 3));
      auto const loss = [&](auto const& q) {
        auto const turned = os::merge<K, L, W>(os::rope<I, K, L>(q));
        auto const keys = os::merge<K, L, W>(os::rope<J, K, L>(k));
        return os::sum<>(os::multiply(os::attention<I, J, W>(turned, keys, keys, os::causal), os::merge<K, L, W>(w)));
      };
      auto const q = t::placed<os::tensor<T, B/Y, I/X, K, L>>(m, of("BIKL", 1));
      return os::value_and_grad(loss)(q).gradient;
    };
    auto const got = os::cast<double>(gradient(os::bfloat16()));
    auto const apart = os::abs(os::subtract(got, gradient(double())));
    CHECK(os::value(os::max<>(apart)) <= 0.03);
  });
}
