// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of attention with windows, documents, a soft cap, a bias, ALiBi and sinks with respect to queries, keys,
/// values, bias and sinks, against plain loops; second derivatives by differences.
// ranks: 1 2 3 4
// labels: ci
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"
#include "support/scored_pairs.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 2}, {'I', 8}, {'J', 2}, {'K', 8}, {'L', 2}, {'G', 2}},
          {{'B', 1}, {'I', 3}, {'J', 2}, {'K', 7}, {'L', 1}, {'G', 2}},
          {{'B', 1}, {'I', 1}, {'J', 1}, {'K', 3}, {'L', 1}, {'G', 1}},
          {{'B', 1}, {'I', 2}, {'J', 2}, {'K', 0}, {'L', 1}, {'G', 1}}};
}

/// The layouts of operands.
struct whole_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B/X, L, G/Y, I, J> q;
    os::leaf<Leaves, double, B/X, L, K, J> k, v;
    os::leaf<Leaves, double, L, I, K> bias;
    os::leaf<Leaves, double, L, G/Y> sinks;
  };
};
struct divided_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B, L, G/Y, I, J> q;
    os::leaf<Leaves, double, B, L, K/X, J> k, v;
    os::leaf<Leaves, double, L, I, K/X> bias;
    os::leaf<Leaves, double, L, G> sinks;
  };
};
struct both_divided {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B, L, G/Z, I/X, J> q;
    os::leaf<Leaves, double, B, L, K/X, J> k, v;
    os::leaf<Leaves, double, L, I/X, K> bias;
    os::leaf<Leaves, double, L, G> sinks;
  };
};

template <class Lies, class Attend>
void check(t::test_mesh const& m, char const* what, t::scored_by_loops const& a, Attend const& attend) {
  INFO(what);
  typename Lies::template operands<os::values> p;
  p.q = t::placed<decltype(p.q)>(m, a.q);
  p.k = t::placed<decltype(p.k)>(m, a.k);
  p.v = t::placed<decltype(p.v)>(m, a.v);
  p.bias = t::placed<decltype(p.bias)>(m, a.bias);
  p.sinks = t::placed<decltype(p.sinks)>(m, a.sinks);
  auto const g = t::placed<decltype(p.q)>(m, a.g);
  auto const d = os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x), g)); })(p).gradient;
  CHECK(t::disagreements(m, d.q, a.dq, t::scores_agree) == 0);
  CHECK(t::disagreements(m, d.k, a.dk, t::scores_agree) == 0);
  CHECK(t::disagreements(m, d.v, a.dv, t::scores_agree) == 0);
  CHECK(t::disagreements(m, d.bias, a.dbias, t::scores_agree) == 0);
  CHECK(t::disagreements(m, d.sinks, a.dsinks, t::scores_agree) == 0);
  auto const nothing = [](double got, double hidden) { return hidden == 0 || got == 0; };
  CHECK(t::disagreements(m, d.k, a.hidden, nothing) == 0);
  CHECK(t::disagreements(m, d.v, a.hidden, nothing) == 0);
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

/// The options of a case behind q, k and v: `call` is called with them. Both branches have one type.
template <class Slopes, class QueryIds, class KeyIds, class Call>
auto options_of(t::test_mesh const& m, t::scored_by_loops const& a, Call const& call) {
  auto const slopes = os::alibi(t::placed<Slopes>(m, a.slopes));
  auto const ids = os::segments(t::placed<QueryIds>(m, a.query_segments), t::placed<KeyIds>(m, a.key_segments));
  auto const window = os::window(a.window).and_first(a.first);
  return [=, &a](auto const& x) {
    auto const run = [&](auto const&... o) {
      return a.causal ? call(x, os::causal, os::bias(x.bias), os::sinks(x.sinks), slopes, ids, window, o...)
                      : call(x, os::bias(x.bias), os::sinks(x.sinks), slopes, ids, window, o...);
    };
    return a.cap > 0 ? run(os::soft_cap(a.cap)) : run();
  };
}

}  // namespace

TEST_CASE("whole keys: in tiles, and of scores under a mask") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const& e, t::scored_by_loops const& a) {
    using slopes = os::tensor<double, L, G>;
    using query_ids = os::tensor<std::int32_t, B/X, I>;
    using key_ids = os::tensor<std::int32_t, B, K>;
    auto const from = os::from_position(a.from);
    t::global_tensor<std::int32_t> const all{
        "IK", e, std::vector<std::int32_t>(static_cast<std::size_t>(e.at('I') * e.at('K')), 1)};
    auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, all);
    check<whole_keys>(m, "tiles", a, options_of<slopes, query_ids, key_ids>(m, a, [&](auto const& x, auto const&... o) {
                        return os::attention<I, K, J>(x.q, x.k, x.v, from, o...);
                      }));
    check<whole_keys>(m, "scores", a,
                      options_of<slopes, query_ids, key_ids>(m, a, [&](auto const& x, auto const&... o) {
                        return os::attention<I, K, J>(x.q, x.k, x.v, from, mask, o...);
                      }));
  });
}

TEST_CASE("divided keys") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const&, t::scored_by_loops const& a) {
    auto const from = os::from_position(a.from);
    check<divided_keys>(
        m, "divided", a,
        options_of<os::tensor<double, L, G/Y>, os::tensor<std::int32_t, B, I>, os::tensor<std::int32_t, B, K/X>>(
            m, a,
            [&](auto const& x, auto const&... o) { return os::attention<I, K/X, J>(x.q, x.k, x.v, from, o...); }));
  });
}

TEST_CASE("rings, and striped sequences") {
  for_each_case([](t::test_mesh const& m, t::extents_by_letter const& e, t::scored_by_loops const& a) {
    if (a.from != 0) return;
    using slopes = os::tensor<double, L, G>;
    using query_ids = os::tensor<std::int32_t, B, I/X>;
    using key_ids = os::tensor<std::int32_t, B, K>;
    auto const in_ring = [](auto const&... more) {
      return [=](auto const& x, auto const&... o) { return os::attention<I, K/X, J>(x.q, x.k, x.v, o..., more...); };
    };
    check<both_divided>(m, "tiles of gathered keys", a,
                        options_of<slopes, query_ids, key_ids>(m, a, [](auto const& x, auto const&... o) {
                          return os::attention<I, K, J>(x.q, os::all_gather<X>(x.k), os::all_gather<X>(x.v), o...);
                        }));
    check<both_divided>(m, "ring", a, options_of<slopes, query_ids, key_ids>(m, a, in_ring(os::ring)));
    check<both_divided>(m, "both ways", a, options_of<slopes, query_ids, key_ids>(m, a, in_ring(os::ring_both_ways)));
    std::int64_t const n = m.size("X");
    if (e.at('I') != e.at('K') || e.at('I') % (2 * n) != 0) return;
    t::scored_by_loops const s = a.striped(n);
    check<both_divided>(m, "striped ring", s,
                        options_of<slopes, query_ids, key_ids>(m, s, in_ring(os::ring, os::striped<X>)));
    check<both_divided>(
        m, "striped, gathered", s, options_of<slopes, query_ids, key_ids>(m, s, [&](auto const& x, auto const&... o) {
          return os::attention<I, K, J>(x.q, os::all_gather<X>(x.k), os::all_gather<X>(x.v), o..., os::striped<X>);
        }));
  });
}

TEST_CASE("second derivatives go by scores that are kept") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}, {'K', 3}};
    INFO(m.text());
    using one_head = os::tensor<double, I/X, J>;
    auto w = t::whole_numbers<double>("IJ", e, 4);
    for (double& x : w.values) x *= 0.25;
    auto const weight = t::placed<one_head>(m, w);
    auto const loss = [&](auto const& p) {
      auto const k = os::rename<I, K>(p);
      return os::sum<>(os::multiply(
          os::attention<I, K/X, J>(p, k, k, os::causal, os::window(2), os::soft_cap(2), os::ring), weight));
    };
    t::check_by_differences<one_head>(m, e, "IJ", [&](auto const& p) {
      auto const g = os::value_and_grad(loss)(p).gradient;
      return os::sum<>(os::multiply(g, g));
    });
  });
}
