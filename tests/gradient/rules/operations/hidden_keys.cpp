// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Hidden keys have no part in the derivatives of attention, even if they are NaN or infinite: they and their values
/// have cotangents of exactly 0, and they spoil no other cotangent. The oracle is plain loops over the visible keys.
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
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

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 2}, {'I', 5}, {'J', 3}, {'K', 9}, {'L', 1}, {'G', 2}},
          {{'B', 1}, {'I', 8}, {'J', 2}, {'K', 8}, {'L', 2}, {'G', 1}},
          {{'B', 1}, {'I', 1}, {'J', 2}, {'K', 7}, {'L', 1}, {'G', 3}}};
}

/// The layouts of operands.
struct whole_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B / X, L, G / Y, I, J> q;
    os::leaf<Leaves, double, B / X, L, K, J> k, v;
  };
};
struct divided_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B, L, G / Y, I, J> q;
    os::leaf<Leaves, double, B, L, K / X, J> k, v;
  };
};
struct both_divided {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B, L, G / Z, I / X, J> q;
    os::leaf<Leaves, double, B, L, K / X, J> k, v;
  };
};

template <class Lies, class Attend>
void check(t::test_mesh const& m, char const* what, t::attention_by_loops const& a, Attend const& attend) {
  INFO(what);
  typename Lies::template operands<os::values> p;
  p.q = t::placed<decltype(p.q)>(m, a.q);
  p.k = t::placed<decltype(p.k)>(m, a.k);
  p.v = t::placed<decltype(p.v)>(m, a.v);
  auto const g = t::placed<decltype(p.q)>(m, a.g);
  auto const d =
      os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x.q, x.k, x.v), g)); })(p).gradient;
  CHECK(t::disagreements(m, d.q, a.dq, t::agrees_or_neither_is_finite) == 0);
  CHECK(t::disagreements(m, d.k, a.dk, t::agrees_or_neither_is_finite) == 0);
  CHECK(t::disagreements(m, d.v, a.dv, t::agrees_or_neither_is_finite) == 0);
  auto const hidden = [](double got, double want) { return want != 0 || got == 0; };  // exactly
  CHECK(t::disagreements(m, d.k, a.dk, hidden) == 0);
  CHECK(t::disagreements(m, d.v, a.dv, hidden) == 0);
}

}  // namespace

TEST_CASE("hidden keys and values have no part in derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents())
      for (t::attention_by_loops const& a : t::attentions_with_hidden_elements(e)) {
        INFO(m.text(), t::text_of(e), "causal: ", a.causal, " from: ", a.from);
        auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, a.mask);
        auto const by_key = t::placed<os::tensor<std::int32_t, I, K / X>>(m, a.mask);
        auto const from = os::from_position(a.from);
        if (!a.causal) {
          check<whole_keys>(m, "whole keys", a, [&](auto const& q, auto const& k, auto const& v) {
            return os::attention<I, K, J>(q, k, v, mask);
          });
          check<divided_keys>(m, "divided keys", a, [&](auto const& q, auto const& k, auto const& v) {
            return os::attention<I, K / X, J>(q, k, v, by_key);
          });
          continue;
        }
        check<whole_keys>(m, "whole keys", a, [&](auto const& q, auto const& k, auto const& v) {
          return os::attention<I, K, J>(q, k, v, os::causal, from);
        });
        check<divided_keys>(m, "divided keys", a, [&](auto const& q, auto const& k, auto const& v) {
          return os::attention<I, K / X, J>(q, k, v, os::causal, from);
        });
        if (a.from != 0) continue;
        check<both_divided>(m, "ring", a, [&](auto const& q, auto const& k, auto const& v) {
          return os::attention<I, K / X, J>(q, k, v, os::causal, os::ring);
        });
        check<both_divided>(m, "both ways round", a, [&](auto const& q, auto const& k, auto const& v) {
          return os::attention<I, K / X, J>(q, k, v, os::causal, os::ring_both_ways);
        });
        check<both_divided>(m, "gathered keys", a, [&](auto const& q, auto const& k, auto const& v) {
          return os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), os::causal);
        });
      }
  });
}

namespace {

template <class Leaves>
struct rows {
  os::leaf<Leaves, double, I, J> q;
  os::leaf<Leaves, double, K / X, J> k, v;
};

}  // namespace

// pytorch#41508: scores [[0, 0], [1, 2]], of which the first row is hidden whole.
TEST_CASE("a row that is hidden whole gives zeros and derivatives of zero") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2}, {'K', 2}, {'J', 2}};
    INFO(m.text());
    auto const close = [](double got, double want) { return std::abs(got - want) <= 1e-9; };
    auto const scores = t::placed<os::tensor<double, I, K / X>>(m, {"IK", e, {0, 0, 1, 2}});
    auto const mask = t::placed<os::tensor<std::int32_t, I, K / X>>(m, {"IK", e, {0, 0, 1, 1}});
    auto const w = t::placed<os::tensor<double, I, K / X>>(m, {"IK", e, {5, 7, 1, 0}});
    auto const r = os::value_and_grad(
        [&](auto const& s) { return os::sum<>(os::multiply(os::softmax<K / X>(s, mask), w)); })(scores);
    CHECK(os::value(r.value) == doctest::Approx(0.2689414214));
    CHECK(t::disagreements(m, r.gradient, {"IK", e, {0, 0, 0.1966119332, -0.1966119332}}, close) == 0);

    // The same of attention: keys are unit vectors, so that queries are the scores; values are the weights' second row.
    t::global_tensor<double> const q{"IJ", e, {0, 0, 1, 2}}, k{"KJ", e, {1, 0, 0, 1}}, v{"KJ", e, {1, 0, 0, 0}};
    rows<os::values> given;
    given.q = t::placed<decltype(given.q)>(m, q);
    given.k = t::placed<decltype(given.k)>(m, k);
    given.v = t::placed<decltype(given.v)>(m, v);
    auto const attended = os::value_and_grad([&](auto const& x) {
      return os::sum<>(os::attention<I, K / X, J>(x.q, x.k, x.v, mask, os::score_scale(1)));
    })(given);
    CHECK(os::value(attended.value) == doctest::Approx(0.2689414214));
    auto const& gradient = attended.gradient;
    double const d = 0.1966119332, p = 0.2689414214;
    CHECK(t::disagreements(m, gradient.q, {"IJ", e, {0, 0, d, -d}}, close) == 0);
    CHECK(t::disagreements(m, gradient.k, {"KJ", e, {d, 2 * d, -d, -2 * d}}, close) == 0);
    CHECK(t::disagreements(m, gradient.v, {"KJ", e, {p, p, 1 - p, 1 - p}}, close) == 0);
  });
}

TEST_CASE("a NaN row of a softmax, or of its logarithm, is one where nothing hides it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const inf = std::numeric_limits<double>::infinity(), no_number = std::numeric_limits<double>::quiet_NaN();
    t::extents_by_letter const e{{'I', 3}, {'K', 4}};
    INFO(m.text());
    t::global_tensor<double> const x{"IK", e, {1, no_number, 2, inf, no_number, 1, 1, 0, 3, 1, 1, inf}};
    t::global_tensor<std::int32_t> const seen{"IK", e, {1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1}};
    double const a = 1 / (1 + std::exp(1.0)), b = 1 - a, n = no_number;
    auto const same = [](double got, double want) {
      return std::isnan(want) ? std::isnan(got) : got == want || std::abs(got - want) <= 1e-12;
    };
    auto const check_as = [&]<class Rows>(Rows const&, auto const& softmax, auto const& log_softmax) {
      auto const block = t::placed<Rows>(m, x);
      CHECK(t::disagreements(m, softmax(block), {"IK", e, {a, 0, b, 0, n, n, 0, n, n, 0, n, n}}, same) == 0);
      CHECK(t::disagreements(m, log_softmax(block),
                             {"IK", e, {std::log(a), -inf, std::log(b), -inf, n, n, -inf, n, n, -inf, n, n}},
                             same) == 0);
      auto const w = t::placed<Rows>(m, {"IK", e, {1, n, 0, n, 1, 1, n, 1, 1, n, 1, 1}});
      auto const r = os::value_and_grad([&](auto const& p) { return os::sum<>(os::multiply(softmax(p), w)); })(block);
      CHECK(t::disagreements(m, r.gradient, {"IK", e, {a * b, 0, -a * b, 0, n, n, 0, n, n, 0, n, n}}, same) == 0);
    };
    auto const mask = t::placed<os::tensor<std::int32_t, I, K>>(m, seen);
    auto const by_key = t::placed<os::tensor<std::int32_t, I, K / X>>(m, seen);
    check_as(
        os::tensor<double, I, K>(), [&](auto const& p) { return os::softmax<K>(p, mask); },
        [&](auto const& p) { return os::log_softmax<K>(p, mask); });
    check_as(
        os::tensor<double, K, I / Y>(), [&](auto const& p) { return os::softmax<K>(p, mask); },
        [&](auto const& p) { return os::log_softmax<K>(p, mask); });
    check_as(
        os::tensor<double, I, K / X>(), [&](auto const& p) { return os::softmax<K / X>(p, by_key); },
        [&](auto const& p) { return os::log_softmax<K / X>(p, by_key); });
  });
}
