// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Attention in tiles and its derivatives where the sequences are longer than a tile, against plain loops: all options,
/// hidden keys that are NaN, keys and values that heads share, values with several axes, 16-bit elements.
// ranks: 1 2 3
// sham: always

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/attended_pairs.hpp"
#include "support/on_meshes.hpp"
#include "support/scored_pairs.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);
OSTRAKA_AXIS(P);
OSTRAKA_AXIS(E);

// Tiles have 120 queries and 240 keys.
std::vector<t::extents_by_letter> long_extents() {
  return {{{'B', 1}, {'I', 121}, {'J', 1}, {'K', 241}, {'L', 1}, {'G', 2}},
          {{'B', 2}, {'I', 125}, {'J', 2}, {'K', 243}, {'L', 1}, {'G', 1}}};
}

template <class Leaves>
struct operands {
  os::leaf<Leaves, double, B/X, L, G/Y, I, J> q;
  os::leaf<Leaves, double, B/X, L, K, J> k, v;
};
template <class Leaves>
struct scored_operands {
  os::leaf<Leaves, double, B/X, L, G/Y, I, J> q;
  os::leaf<Leaves, double, B/X, L, K, J> k, v;
  os::leaf<Leaves, double, L, I, K> bias;
  os::leaf<Leaves, double, L, G/Y> sinks;
};

/// Causal attention from a position, or attention to all keys.
t::attention_by_loops simple_attention(t::extents_by_letter const& e, bool causal, std::int64_t from) {
  t::attention_by_loops a{t::whole_numbers<double>("BLGIJ", e, 1),
                          t::whole_numbers<double>("BLKJ", e, 2),
                          t::whole_numbers<double>("BLKJ", e, 3),
                          t::whole_numbers<double>("BLGIJ", e, 4),
                          causal,
                          from};
  for (t::global_tensor<double>* x : {&a.q, &a.k, &a.v, &a.g})
    for (double& y : x->values) y *= 0.25;
  return a;
}

template <class Close, class Case, class P, class Attend>
auto check(t::test_mesh const& m, Case const& a, P& p, Close const& close, Attend const& attend) {
  p.q = t::placed<decltype(p.q)>(m, a.q);
  p.k = t::placed<decltype(p.k)>(m, a.k);
  p.v = t::placed<decltype(p.v)>(m, a.v);
  auto const g = t::placed<decltype(p.q)>(m, a.g);
  CHECK(t::disagreements(m, attend(p), a.out, close) == 0);
  auto const d = os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x), g)); })(p).gradient;
  CHECK(t::disagreements(m, d.q, a.dq, close) == 0);
  CHECK(t::disagreements(m, d.k, a.dk, close) == 0);
  CHECK(t::disagreements(m, d.v, a.dv, close) == 0);
  return d;
}

}  // namespace

TEST_CASE("all options") {
  for (bool const with_cap : {false, true}) {
    t::extents_by_letter const e = long_extents()[with_cap ? 1 : 0];
    for (t::scored_by_loops a : t::attentions_with_options(e, with_cap)) {
      if (a.window == 5) {
        a.window = 100;
        a.run();
      }
      t::on_every_mesh([&](t::test_mesh const& m) {
        INFO(m.text(), t::text_of(e), a.name, " causal: ", a.causal, " cap: ", a.cap);
        scored_operands<os::values> p;
        p.bias = t::placed<decltype(p.bias)>(m, a.bias);
        p.sinks = t::placed<decltype(p.sinks)>(m, a.sinks);
        auto const slopes = os::alibi(t::placed<os::tensor<double, L, G>>(m, a.slopes));
        auto const ids = os::segments(t::placed<os::tensor<std::int32_t, B/X, I>>(m, a.query_segments),
                                      t::placed<os::tensor<std::int32_t, B, K>>(m, a.key_segments));
        auto const d = check(m, a, p, t::scores_agree, [&](auto const& x) {
          auto const run = [&](auto const&... o) {
            return os::attention<I, K, J>(x.q, x.k, x.v, os::bias(x.bias), os::sinks(x.sinks), slopes, ids,
                                          os::window(a.window).and_first(a.first), os::from_position(a.from), o...);
          };
          auto const capped = [&](auto const&... o) { return a.cap > 0 ? run(os::soft_cap(a.cap), o...) : run(o...); };
          return a.causal ? capped(os::causal) : capped();
        });
        CHECK(t::disagreements(m, d.bias, a.dbias, t::scores_agree) == 0);
        CHECK(t::disagreements(m, d.sinks, a.dsinks, t::scores_agree) == 0);
      });
    }
  }
}

TEST_CASE("without options, and hidden keys that are no numbers") {
  for (t::extents_by_letter const& e : long_extents())
    for (t::attention_by_loops a : t::attentions_with_hidden_elements(e)) {
      if (!a.causal) {  // a mask is not in tiles
        a = simple_attention(e, false, 0);
        a.run();
      }
      t::on_every_mesh([&](t::test_mesh const& m) {
        INFO(m.text(), t::text_of(e), "causal: ", a.causal, " from: ", a.from);
        operands<os::values> p;
        auto const d = check(m, a, p, t::agrees_or_neither_is_finite, [&](auto const& x) {
          return a.causal ? os::attention<I, K, J>(x.q, x.k, x.v, os::causal, os::from_position(a.from))
                          : os::attention<I, K, J>(x.q, x.k, x.v);
        });
        auto const hidden = [](double got, double want) { return want != 0 || got == 0; };  // exactly
        CHECK(t::disagreements(m, d.k, a.dk, hidden) == 0);
        CHECK(t::disagreements(m, d.v, a.dv, hidden) == 0);
      });
    }
}

namespace {

/// Returns a tensor without L: its first part, or the sum of its parts.
t::global_tensor<double> without_heads(t::global_tensor<double> const& a, std::string const& letters, bool sums) {
  t::global_tensor<double> r{letters, a.extents, {}};
  t::for_each_index(letters, a.extents, [&](t::extents_by_letter at) {
    double x = 0;
    for (at['L'] = 0; at['L'] < (sums ? a.extents.at('L') : 1); ++at['L']) x += a.values[a.position(at)];
    r.values.push_back(x);
  });
  return r;
}

template <class Leaves>
struct shared_keys {
  os::leaf<Leaves, double, B, L/X, G, I, J> q;
  os::leaf<Leaves, double, B, K, J> k;
  os::leaf<Leaves, double, B, L/X, K, J> v;
};
template <class Leaves>
struct shared_values {
  os::leaf<Leaves, double, B, L/X, G, I/Y, J> q;
  os::leaf<Leaves, double, B, L/X, K, J> k;
  os::leaf<Leaves, double, B, K, J> v;
};

}  // namespace

TEST_CASE("heads share keys, or values") {
  t::extents_by_letter const e{{'B', 1}, {'I', 121}, {'J', 1}, {'K', 241}, {'L', 2}, {'G', 2}};
  auto const spread = [&](t::global_tensor<double>& x) {
    t::for_each_index("BLKJ", e, [&](t::extents_by_letter const& at) {
      t::extents_by_letter first = at;
      first['L'] = 0;
      x.values[x.position(at)] = x.values[x.position(first)];
    });
  };
  for (bool const of_keys : {true, false}) {
    t::attention_by_loops s = simple_attention(e, true, 119);
    spread(of_keys ? s.k : s.v);
    s.run();
    auto const want_k = of_keys ? without_heads(s.dk, "BKJ", true) : s.dk;
    auto const want_v = of_keys ? s.dv : without_heads(s.dv, "BKJ", true);
    auto const given_k = of_keys ? without_heads(s.k, "BKJ", false) : s.k;
    auto const given_v = of_keys ? s.v : without_heads(s.v, "BKJ", false);
    t::on_every_mesh([&](t::test_mesh const& m) {
      INFO(m.text(), of_keys);
      auto const compare = [&](auto p) {
        p.q = t::placed<decltype(p.q)>(m, s.q);
        p.k = t::placed<decltype(p.k)>(m, given_k);
        p.v = t::placed<decltype(p.v)>(m, given_v);
        auto const g = t::placed<decltype(p.q)>(m, s.g);
        auto const attend = [&](auto const& x) {
          return os::attention<I, K, J>(x.q, x.k, x.v, os::causal, os::from_position(s.from));
        };
        CHECK(t::disagreements(m, attend(p), s.out, t::scores_agree) == 0);
        auto const d =
            os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x), g)); })(p).gradient;
        CHECK(t::disagreements(m, d.q, s.dq, t::scores_agree) == 0);
        CHECK(t::disagreements(m, d.k, want_k, t::scores_agree) == 0);
        CHECK(t::disagreements(m, d.v, want_v, t::scores_agree) == 0);
      };
      if (of_keys)
        compare(shared_keys<os::values>{});
      else
        compare(shared_values<os::values>{});
    });
  }
}

namespace {

// Blocks of the scores' size: the most at once.
constexpr std::uint64_t bytes_of_scores = 400 * 800 * sizeof(double);
int scores_now = 0, scores_most = 0;

void count_scores(std::uint64_t bytes, int by) {
  if (bytes == bytes_of_scores) scores_most = std::max(scores_most, scores_now += by);
}

}  // namespace

TEST_CASE("tiles hold no array of the scores' shape") {
  t::extents_by_letter const e{{'B', 1}, {'I', 400}, {'J', 1}, {'K', 800}, {'L', 1}, {'G', 1}};
  t::attention_by_loops const a = simple_attention(e, true, 120);
  t::global_tensor<std::int32_t> const all{"IK", e, std::vector<std::int32_t>(400 * 800, 1)};
  t::on_every_mesh([&](t::test_mesh const& m) {
    INFO(m.text());
    operands<os::values> p;
    p.q = t::placed<decltype(p.q)>(m, a.q);
    p.k = t::placed<decltype(p.k)>(m, a.k);
    p.v = t::placed<decltype(p.v)>(m, a.v);
    auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, all);
    auto const most_scores = [&](auto const&... options) {
      using namespace Kokkos::Tools::Experimental;
      scores_now = scores_most = 0;
      set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t bytes) { count_scores(bytes, 1); });
      set_deallocate_data_callback(
          [](auto, char const*, void const*, std::uint64_t bytes) { count_scores(bytes, -1); });
      static_cast<void>(os::value_and_grad(
          [&](auto const& x) { return os::sum<>(os::attention<I, K, J>(x.q, x.k, x.v, options...)); })(p));
      set_allocate_data_callback(nullptr);
      set_deallocate_data_callback(nullptr);
      return scores_most;
    };
    CHECK(most_scores(mask) == (p.q.local().size() > 0 ? 2 : 0));
    CHECK(most_scores(os::causal) == 0);
  });
}

TEST_CASE("values with two axes, other orders, and elements of 16 bits") {
  t::extents_by_letter const e{{'B', 2}, {'I', 121}, {'J', 4}, {'K', 241}, {'L', 1}, {'G', 1}};
  t::attention_by_loops a = simple_attention(e, true, 100);
  a.run();
  t::on_every_mesh([&](t::test_mesh const& m) {
    INFO(m.text());
    auto const from = os::from_position(a.from);
    operands<os::values> p;
    p.q = t::placed<decltype(p.q)>(m, a.q);
    p.k = t::placed<decltype(p.k)>(m, a.k);
    p.v = t::placed<decltype(p.v)>(m, a.v);
    auto const g = t::placed<decltype(p.q)>(m, a.g);
    auto const compare = [&](double tolerance, auto const& attend) {
      auto const close = [=](double x, double want) { return std::abs(x - want) <= tolerance * (1 + std::abs(want)); };
      CHECK(t::disagreements(m, attend(p), a.out, close) == 0);
      auto const d =
          os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x), g)); })(p).gradient;
      CHECK(t::disagreements(m, d.q, a.dq, close) == 0);
      CHECK(t::disagreements(m, d.k, a.dk, close) == 0);
      CHECK(t::disagreements(m, d.v, a.dv, close) == 0);
    };
    compare(1e-12, [&](auto const& x) {
      auto const o =
          os::attention<I, K, J>(os::transpose<B, I, G, J, L>(x.q), os::transpose<K, B, J, L>(x.k),
                                 os::split<J, P, E>(os::transpose<B, K, L, J>(x.v), P = 2), os::causal, from);
      return os::transpose<B, L, G, I, J>(os::merge<P, E, J>(o));
    });
    compare(0.05, [&](auto const& x) {
      auto const narrow = [](auto const& b) { return os::cast<os::bfloat16>(b); };
      return os::cast<double>(os::attention<I, K, J>(narrow(x.q), narrow(x.k), narrow(x.v), os::causal, from));
    });
  });
}
