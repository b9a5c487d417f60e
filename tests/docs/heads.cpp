// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/heads.md as the page prints them, run on 4 ranks: attention whose heads are split off a divided
/// axis equals that of one device; a contiguous shard that is read as all heads gives another result.

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace heads {

OSTRAKA_AXIS(S);  OSTRAKA_AXIS(T);
OSTRAKA_AXIS(HD, 16);  OSTRAKA_AXIS(H, 4);  OSTRAKA_AXIS(D, 4);
OSTRAKA_MESH_AXIS(X);

// softmax(q kᵀ / √d) v of each head
auto attend(auto const& q, auto const& k, auto const& v) {
  auto scores = os::scale(os::einsum<H/X, S, T>(q, os::rename<S, T>(k)), 1 / std::sqrt(4.0));
  return os::einsum<S, H/X, D>(os::softmax<T>(scores), os::rename<S, T>(v));
}

auto attention(os::tensor<double, S, HD/X> const& q, os::tensor<double, S, HD/X> const& k,
               os::tensor<double, S, HD/X> const& v) {
  auto heads = [](auto const& a) { return os::split<HD, H, D>(a); };  // [S, H_X, D], the same memory
  return os::merge<H, D, HD>(attend(heads(q), heads(k), heads(v)));   // [S, HD_X]
}

// The result if a device reads its 4 columns as one of each head, and an all-to-all then brings heads together.
auto another_model(os::tensor<double, S, HD/X> const& q, os::tensor<double, S, HD/X> const& k,
                   os::tensor<double, S, HD/X> const& v) {
  auto heads = [](auto const& a) {
    auto columns = os::split<HD, D, H>(a);                            // [S, D_X, H]: head h is columns h, h + 4, …
    return os::transpose<S, H, D>(os::reshard<S, D, H/X>(columns));   // moves
  };
  auto out = os::transpose<S, D, H>(attend(heads(q), heads(k), heads(v)));
  return os::merge<D, H, HD>(os::reshard<S, D/X, H>(out));            // moves
}

// On one device, in loops.
double one_device(std::int64_t s, std::int64_t c, std::int64_t n, auto const& q, auto const& k, auto const& v) {
  std::int64_t const h = c / 4;
  double sum = 0, weighted = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < 4; ++d) score += q(s, 4 * h + d) * k(j, 4 * h + d);
    sum += std::exp(score / 2);
    weighted += std::exp(score / 2) * v(j, c);
  }
  return weighted / sum;
}

OSTRAKA_AXIS(M);  OSTRAKA_AXIS(G);

auto own_heads(auto const& x, auto const& wq, auto const& wk, auto const& wv, auto const& wo) {
  auto q = os::einsum<G/X, S, D>(x, wq);                    // wq[M, G/X, D]: 1, 2, 1 and 2 heads
  auto k = os::einsum<G/X, T, D>(os::rename<S, T>(x), wk);
  auto v = os::einsum<G/X, T, D>(os::rename<S, T>(x), wv);
  auto o = os::attention<S, T, D>(q, k, v, os::causal);     // moves nothing
  return os::einsum<S, M>(o, wo);                           // wo[G/X, D, M]: one all-reduce
}

TEST_CASE("heads split off a divided axis, and a shard read as all heads") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 8;
  auto const q = [](std::int64_t s, std::int64_t c) { return std::sin(1.0 + static_cast<double>(3 * s + c)); };
  auto const k = [](std::int64_t s, std::int64_t c) { return std::cos(static_cast<double>(s + 2 * c)); };
  auto const v = [](std::int64_t s, std::int64_t c) { return static_cast<double>((5 * s + 7 * c) % 11); };
  auto const Q = os::generate<double, S, HD/X>(mesh, S = n, q);
  auto const K = os::generate<double, S, HD/X>(mesh, S = n, k);
  auto const V = os::generate<double, S, HD/X>(mesh, S = n, v);
  os::tensor<double, S, HD/X> right, wrong;
  auto const moved = t::traffic_of([&] { right = attention(Q, K, V); });
  auto const moved_by_other = t::traffic_of([&] { wrong = another_model(Q, K, V); });
  CHECK(moved.bytes == 0);
  CHECK(moved_by_other.bytes == 4 * 768);
  auto const all = os::gather_to_root(right), others = os::gather_to_root(wrong);
  if (all) {
    double error = 0, difference = 0;
    for (std::int64_t s = 0; s < n; ++s)
      for (std::int64_t c = 0; c < 16; ++c) {
        double const want = one_device(s, c, n, q, k, v);
        error = std::fmax(error, std::fabs((*all)(s, c) - want));
        difference = std::fmax(difference, std::fabs((*others)(s, c) - want));
      }
    CHECK(std::fabs((*all)(0, 0) - 5.3256) < 5e-5);
    CHECK(std::fabs((*others)(0, 0) - 4.8028) < 5e-5);
    CHECK(error < 1e-14);
    CHECK(difference > 1);
  }
}

TEST_CASE("6 heads on 4 devices as they lie") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 3, m = 2, heads = 6;
  auto const number = [](std::int64_t salt) {
    return [salt](std::int64_t a, std::int64_t b, std::int64_t c) {
      return std::sin(static_cast<double>(salt + 5 * a + 3 * b + 2 * c));
    };
  };
  auto const in = [&](std::int64_t salt) {
    return os::generate<double, M, G/X, D>(mesh, M = m, G = heads, number(salt));
  };
  auto const x = [](std::int64_t s, std::int64_t c) { return std::cos(static_cast<double>(s + 2 * c)); };
  auto const y = own_heads(os::generate<double, S, M>(mesh, S = n, M = m, x), in(1), in(2), in(3),
                           os::generate<double, G/X, D, M>(mesh, G = heads, M = m, number(4)));
  CHECK((in(1).range(1).size() == 1 || in(1).range(1).size() == 2));
  auto const project = [&](std::int64_t salt, std::int64_t s, std::int64_t g, std::int64_t d) {
    double sum = 0;
    for (std::int64_t c = 0; c < m; ++c) sum += x(s, c) * number(salt)(c, g, d);
    return sum;
  };
  for (std::int64_t s = 0; s < n; ++s)
    for (std::int64_t c = 0; c < m; ++c) {
      double want = 0;
      for (std::int64_t g = 0; g < heads; ++g) {
        double sum = 0, weighted = 0;
        for (std::int64_t k = 0; k <= s; ++k) {
          double score = 0, value = 0;
          for (std::int64_t d = 0; d < 4; ++d) {
            score += project(1, s, g, d) * project(2, k, g, d);
            value += project(3, k, g, d) * number(4)(g, d, c);
          }
          sum += std::exp(score / 2);
          weighted += std::exp(score / 2) * value;
        }
        want += weighted / sum;
      }
      CHECK(std::fabs(y.local()(static_cast<std::size_t>(s), static_cast<std::size_t>(c)) - want) < 1e-13);
    }
}

}  // namespace heads
