// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A mixture of experts in plain loops, and its gradient by differences of the loops: each token goes through its
/// experts one after another. None of this is the library's.

#include <ostraka/experts.hpp>
#include <ostraka/gradient.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

OSTRAKA_AXIS(M);  // width
OSTRAKA_AXIS(F);  // inner width
OSTRAKA_AXIS(E);  // experts
OSTRAKA_AXIS(C);  // slots
OSTRAKA_AXIS(R);  // rows

namespace mixture {

namespace os = ostraka;
namespace t = os::testing;
using whole = t::global_tensor<double>;
using numbers = t::global_tensor<std::int64_t>;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Numbers between −1 and 1 that are no multiples of each other.
inline whole noise(std::string const& letters, t::extents_by_letter const& e, std::uint64_t seed) {
  whole g = t::whole_numbers<double>(letters, e, 1);
  for (double& v : g.values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<double>(static_cast<std::int64_t>(seed >> 12) % 2000003) / 2000003.0;
  }
  return g;
}

/// Tokens [B, I] of width M, E experts of inner width F, K choices; `capacity` slots per expert in each sequence,
/// unlimited if it is negative.
struct sizes {
  std::int64_t b, i, m, f, e, k;
  std::int64_t capacity = -1;
  bool renormalised = false;

  [[nodiscard]] std::int64_t tokens() const { return b * i; }
  [[nodiscard]] t::extents_by_letter extents() const {
    return {{'B', b}, {'I', i}, {'M', m}, {'F', f}, {'E', e}, {'K', k}};
  }
};

struct values {
  whole x, router, up, down;
  explicit values(sizes const& s, std::uint64_t seed = 1)
      : x(noise("BIM", s.extents(), seed)),
        router(noise("ME", s.extents(), seed + 1)),
        up(noise("EMF", s.extents(), seed + 2)),
        down(noise("EFM", s.extents(), seed + 3)) {}
};

struct routed {
  std::vector<double> probabilities;      // [token, E]
  std::vector<double> z;                  // [token]
  std::vector<std::int64_t> experts;      // [token, K]
  std::vector<double> weights;            // [token, K]
};

/// `favour`: added to the logits of an expert, so that all tokens go there.
inline routed route(values const& v, sizes const& s, std::vector<double> const& favour) {
  routed r;
  for (std::int64_t token = 0; token < s.tokens(); ++token) {
    std::vector<double> logits(at(s.e)), p(at(s.e));
    double most = -INFINITY, sum = 0;
    for (std::int64_t e = 0; e < s.e; ++e) {
      double& l = logits[at(e)] = favour.empty() ? 0 : favour[at(e)];
      for (std::int64_t m = 0; m < s.m; ++m) l += v.x.values[at(token * s.m + m)] * v.router.values[at(m * s.e + e)];
      most = std::max(most, l);
    }
    for (std::int64_t e = 0; e < s.e; ++e) sum += p[at(e)] = std::exp(logits[at(e)] - most);
    for (double& one : p) one /= sum;
    r.z.push_back(most + std::log(sum));
    std::vector<std::int64_t> order;
    for (std::int64_t e = 0; e < s.e; ++e) order.push_back(e);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return p[at(a)] > p[at(b)] || (p[at(a)] == p[at(b)] && a < b); });
    double all = 0;
    for (std::int64_t k = 0; k < s.k; ++k) all += p[at(order[at(k)])];
    for (std::int64_t k = 0; k < s.k; ++k) {
      r.experts.push_back(order[at(k)]);
      r.weights.push_back(p[at(order[at(k)])] / (s.renormalised ? all : 1));
    }
    r.probabilities.insert(r.probabilities.end(), p.begin(), p.end());
  }
  return r;
}

/// True for each choice that is dropped.
inline std::vector<bool> dropped(routed const& r, sizes const& s) {
  std::vector<bool> gone;
  for (std::int64_t b = 0; b < s.b; ++b) {
    std::vector<std::int64_t> taken(at(s.e));
    for (std::int64_t c = b * s.i * s.k; c < (b + 1) * s.i * s.k; ++c)
      gone.push_back(s.capacity >= 0 && taken[at(r.experts[at(c)])]++ >= s.capacity);
  }
  return gone;
}

/// The result of the experts: y = Σ_k weight · down[e] (up[e] x)².
inline whole result(values const& v, sizes const& s, std::vector<double> const& favour = {}) {
  routed const r = route(v, s, favour);
  std::vector<bool> const gone = dropped(r, s);
  whole y = v.x;
  for (double& one : y.values) one = 0;
  for (std::int64_t c = 0; c < s.tokens() * s.k; ++c) {
    if (gone[at(c)]) continue;
    std::int64_t const token = c / s.k, e = r.experts[at(c)];
    for (std::int64_t f = 0; f < s.f; ++f) {
      double h = 0;
      for (std::int64_t m = 0; m < s.m; ++m)
        h += v.x.values[at(token * s.m + m)] * v.up.values[at((e * s.m + m) * s.f + f)];
      for (std::int64_t m = 0; m < s.m; ++m)
        y.values[at(token * s.m + m)] += r.weights[at(c)] * h * h * v.down.values[at((e * s.f + f) * s.m + m)];
    }
  }
  return y;
}

/// |E| Σ f P and the mean of z².
inline double balance(values const& v, sizes const& s, std::vector<double> const& favour = {}) {
  routed const r = route(v, s, favour);
  double sum = 0;
  for (std::int64_t e = 0; e < s.e; ++e) {
    double f = 0, p = 0;
    for (std::int64_t one : r.experts) f += one == e;
    for (std::int64_t token = 0; token < s.tokens(); ++token) p += r.probabilities[at(token * s.e + e)];
    sum += f * p;
  }
  double const tokens = static_cast<double>(s.tokens());
  return static_cast<double>(s.e) * sum / (tokens * tokens * static_cast<double>(s.k));
}
inline double squares(values const& v, sizes const& s, std::vector<double> const& favour = {}) {
  routed const r = route(v, s, favour);
  double sum = 0;
  for (double z : r.z) sum += z * z;
  return sum / static_cast<double>(s.tokens());
}

/// A loss that depends on all of it.
inline double loss(values const& v, sizes const& s, std::vector<double> const& favour = {}) {
  whole const y = result(v, s, favour);
  double sum = 0;
  for (double one : y.values) sum += one * one + one;
  return sum + 0.1 * balance(v, s, favour) + 0.01 * squares(v, s, favour);
}

/// The loss's slope along each element of `of`, which is a part of v.
inline whole slopes(values& v, whole& of, sizes const& s, std::vector<double> const& favour) {
  whole slope = of;
  double const step = 1e-6;
  for (std::size_t i = 0; i < of.values.size(); ++i) {
    double const is = of.values[i];
    of.values[i] = is + step;
    double const up = loss(v, s, favour);
    of.values[i] = is - step;
    slope.values[i] = (up - loss(v, s, favour)) / (2 * step);
    of.values[i] = is;
  }
  return slope;
}

inline bool same(double got, double want) { return std::abs(got - want) <= 1e-13 * (1 + std::abs(want)); }
inline bool near(double got, double want) { return std::abs(got - want) <= 1e-7 * (1 + std::abs(want)); }

/// How tokens and experts are divided, and the inner width of each expert.
template <auto Batch, auto Length, auto Experts, auto Inner = F>
struct divided {
  static constexpr auto inner = Inner;
  static constexpr auto batch = Batch;
  static constexpr auto length = Length;
  static constexpr auto experts = Experts;
};

/// The tokens, which have a gradient, too, and the weights.
template <class L, class Lies>
struct parameters {
  os::leaf<L, double, Lies::batch, Lies::length, M> x;
  os::leaf<L, double, M, E> router;
  os::leaf<L, double, Lies::experts, M, Lies::inner> up;
  os::leaf<L, double, Lies::experts, Lies::inner, M> down;
};

template <class Lies>
parameters<os::values, Lies> place(t::test_mesh const& m, values const& v) {
  using tree = parameters<os::values, Lies>;
  tree p;
  p.x = t::placed<decltype(p.x)>(m, v.x);
  p.router = t::placed<decltype(p.router)>(m, v.router);
  p.up = t::placed<decltype(p.up)>(m, v.up);
  p.down = t::placed<decltype(p.down)>(m, v.down);
  return p;
}

/// The function of each expert.
inline constexpr auto expert = [](auto const& rows, auto const& dot, auto const& up, auto const& down) {
  auto const h = dot(rows, up);
  return dot(os::multiply(h, h), down);
};

/// The router's logits.
template <class Lies, class P, class Favour>
auto logits(P const& p, Favour const& favour) {
  auto const own = os::einsum<Lies::batch, Lies::length, E>(p.x, p.router);
  return os::add(own, favour);
}

/// loss() of the result, as in the loops.
template <class Y, class Route, class Logits>
auto loss_of(Y const& y, Route const& r, Logits const& l) {
  return os::sum<>(os::multiply(y, y) + y) + 0.1 * os::load_balance_loss<E>(r) + 0.01 * os::router_z_loss<E>(l);
}

inline whole favour_of(sizes const& s, std::vector<double> const& favour) {
  return {"E", s.extents(), favour.empty() ? std::vector<double>(at(s.e)) : favour};
}

template <bool Renormalised, class A>
auto routed_by(A const& logits, sizes const& s) {
  if constexpr (Renormalised)
    return os::route<E, K>(logits, K = s.k, os::renormalised);
  else
    return os::route<E, K>(logits, K = s.k);
}

/// Result and gradients of `mix(p, routing)` against loops.
template <class Lies, bool Renormalised, class Mix>
void check_mixture(t::test_mesh const& m, sizes const& s, std::vector<double> const& favour, Mix const& mix) {
  values v(s, 7);
  auto const p = place<Lies>(m, v);
  auto const to = t::placed<os::tensor<double, E>>(m, favour_of(s, favour));
  auto const run = [&](auto const& q) {
    auto const l = logits<Lies>(q, to);
    auto const r = routed_by<Renormalised>(l, s);
    return loss_of(mix(q, r), r, l);
  };
  auto const y = mix(p, routed_by<Renormalised>(logits<Lies>(p, to), s));
  CHECK(t::disagreements(m, y, result(v, s, favour), same) == 0);
  auto const [value, gradient] = os::value_and_grad(run)(p);
  CHECK(near(os::value(value), loss(v, s, favour)));
  CHECK(t::disagreements(m, gradient.x, slopes(v, v.x, s, favour), near) == 0);
  CHECK(t::disagreements(m, gradient.router, slopes(v, v.router, s, favour), near) == 0);
  CHECK(t::disagreements(m, gradient.up, slopes(v, v.up, s, favour), near) == 0);
  CHECK(t::disagreements(m, gradient.down, slopes(v, v.down, s, favour), near) == 0);
}

}  // namespace mixture
