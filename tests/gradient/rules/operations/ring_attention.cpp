// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of os::attention with os::ring, by differences of the plain program and compared with those for gathered
/// keys: in one direction and both, causal and not, in order and striped, groups of heads over another mesh axis,
/// uneven parts; and the bytes of the backward.
// ranks: 1 2 3 4 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);

// L: heads of keys, G: queries' heads of each, I: queries, K: keys, J: the head's width.
template <class Leaves>
struct operands {
  os::leaf<Leaves, double, L, G/Y, I/X, J> q;
  os::leaf<Leaves, double, L, K/X, J> k, v;
};
using queries = os::tensor<double, L, G/Y, I/X, J>;
using keys = os::tensor<double, L, K/X, J>;

template <class Type>
Type numbers(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& letters, std::uint64_t salt) {
  auto g = t::whole_numbers<double>(letters, e, salt);
  for (double& v : g.values) v *= 0.25;
  return t::placed<Type>(m, g);
}

template <class A, class W>
auto weighed(A const& a, W const& w) {
  return os::sum<>(os::multiply(a, w));
}

template <class A>
double largest_difference(A const& a, A const& b) {
  return os::value(os::max<>(os::map([](double x, double y) { return std::abs(x - y); }, a, b)));
}

/// The gradients of a ring equal those of gathered keys, with respect to all three.
template <class Ring, class Gathered>
void check_as_gathered(t::test_mesh const& m, t::extents_by_letter const& e, Ring const& ring,
                       Gathered const& gathered) {
  operands<os::values> const given{numbers<queries>(m, e, "LGIJ", 1), numbers<keys>(m, e, "LKJ", 2),
                                   numbers<keys>(m, e, "LKJ", 3)};
  auto const w = numbers<queries>(m, e, "LGIJ", 4);
  auto const of = [&](auto const& attend) {
    return os::value_and_grad([&](auto const& p) { return weighed(attend(p.q, p.k, p.v), w); })(given);
  };
  auto const got = of(ring), want = of(gathered);
  CHECK(std::abs(os::value(got.value) - os::value(want.value)) <= 1e-12 * (1 + std::abs(os::value(want.value))));
  CHECK(largest_difference(got.gradient.q, want.gradient.q) <= 1e-13);
  CHECK(largest_difference(got.gradient.k, want.gradient.k) <= 1e-13);
  CHECK(largest_difference(got.gradient.v, want.gradient.v) <= 1e-13);
}

constexpr auto in_ring = [](auto const&... options) {
  return [=](auto const& q, auto const& k, auto const& v) { return os::attention<I, K/X, J>(q, k, v, options...); };
};
constexpr auto to_gathered = [](auto const&... options) {
  return [=](auto const& q, auto const& k, auto const& v) {
    return os::attention<I, K, J>(q, os::all_gather<X>(k), os::all_gather<X>(v), options...);
  };
};

}  // namespace

TEST_CASE("a ring has the gradients of attention to gathered keys") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    for (t::extents_by_letter const& e : std::vector<t::extents_by_letter>{
             {{'I', 12 * n}, {'J', 3}, {'K', 12 * n}, {'L', 2}, {'G', 2}},
             {{'I', 7}, {'J', 2}, {'K', 7}, {'L', 1}, {'G', 3}},
             {{'I', 3}, {'J', 2}, {'K', 10}, {'L', 2}, {'G', 1}},
             {{'I', 5}, {'J', 4}, {'K', 1}, {'L', 1}, {'G', 2}}}) {
      INFO(m.text(), t::text_of(e));
      check_as_gathered(m, e, in_ring(os::ring), to_gathered());
      check_as_gathered(m, e, in_ring(os::ring_both_ways, os::score_scale(0.3)), to_gathered(os::score_scale(0.3)));
      check_as_gathered(m, e, in_ring(os::causal, os::ring), to_gathered(os::causal));
      check_as_gathered(m, e, in_ring(os::causal, os::ring_both_ways), to_gathered(os::causal));
      if (e.at('I') % (2 * n) != 0 || e.at('K') % (2 * n) != 0) continue;
      check_as_gathered(m, e, in_ring(os::causal, os::striped<X>, os::ring), to_gathered(os::causal, os::striped<X>));
      check_as_gathered(m, e, in_ring(os::causal, os::striped<X>, os::ring_both_ways),
                        to_gathered(os::causal, os::striped<X>));
    }
  });
}

TEST_CASE("by differences, with keys that are values, too, and of stripes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'I', 2 * n}, {'J', 2}, {'K', 2 * n}, {'L', 1}, {'G', 1}};
    INFO(m.text());
    using one_head = os::tensor<double, I/X, J>;
    auto const w = numbers<one_head>(m, e, "IJ", 4);
    t::check_by_differences<one_head>(m, e, "IJ", [&](auto const& p) {
      auto const s = os::stripe<I/X>(p);
      auto const k = os::rename<I, K>(s);
      auto const a = os::attention<I, K/X, J>(s, k, os::scale(k, 2.0), os::causal, os::striped<X>, os::ring);
      return weighed(os::unstripe<I/X>(a), w);
    });
  });
}

TEST_CASE("derivatives of derivatives go by gathered keys") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}, {'K', 3}};
    INFO(m.text());
    using one_head = os::tensor<double, I/X, J>;
    auto const w = numbers<one_head>(m, e, "IJ", 4);
    auto const loss = [&](auto const& p) {
      auto const k = os::rename<I, K>(p);
      return weighed(os::attention<I, K/X, J>(p, k, k, os::causal, os::ring), w);
    };
    t::check_by_differences<one_head>(m, e, "IJ", [&](auto const& p) {
      auto const g = os::value_and_grad(loss)(p).gradient;
      return os::sum<>(os::multiply(g, g));
    });
  });
}

namespace {

constexpr auto ring_loss = [](auto const& q, auto const& k) {
  return os::sum<>(os::attention<I, K/X, J>(q, k, k, os::causal, os::striped<X>, os::ring));
};
constexpr auto plan = os::gradient_plan<os::tensor<double, L, G, I/X, J>, os::tensor<double, L, K/X, J>>(ring_loss);
static_assert(plan.unpriced() == 0 && plan.backward.count(os::step::all_gather) == 0);

}  // namespace

TEST_CASE("the backward moves keys, values and their cotangents, as predicted") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'I', 4 * n}, {'J', 3}, {'K', 4 * n}, {'L', 2}, {'G', 2}};
    INFO(m.text());
    auto const q = numbers<os::tensor<double, L, G, I/X, J>>(m, e, "LGIJ", 1);
    auto const k = numbers<os::tensor<double, L, K/X, J>>(m, e, "LKJ", 2);
    std::int64_t const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(ring_loss)(q, k)); }).bytes;
    CHECK(moved == plan.total_bytes(I = 4 * n, J = 3, K = 4 * n, L = 2, G = 2, X = n, Y = m.size("Y"),
                                    Z = m.size("Z")));
    // Early chunks go all the way round, late ones half of the way on average; cotangents go as far, and then home.
    std::int64_t const chunk = 2 * 2 * 3 * 2 * 8;  // of keys and values
    std::int64_t const hops = n * (n - 1) + n * (n - 1) / 2;
    std::int64_t const reduced = t::traffic_of([&] { static_cast<void>(os::sum<>(q)); }).bytes;
    CHECK(moved == t::ranks() / n * 3 * hops * chunk + reduced);
  });
}
