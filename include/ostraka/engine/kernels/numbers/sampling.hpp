// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The numbers that os::sample computes from a logit: bits in the order of the logits; a weight that is a
/// whole number, so that sums of weights are exact in any order; and a score, the largest of which is drawn. Each
/// depends only on the logit (the score also on the key and the element), so that all meshes get the same bits.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/numbers/distributions.hpp>
#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// Returns sizeof(T) bytes as an integer in the order of the numbers; the same for 0 and −0. @pre x is not NaN
template <class T>
KOKKOS_INLINE_FUNCTION std::uint64_t ordered_bits(T x) {
  using pattern = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr std::uint64_t sign = std::uint64_t(1) << (8 * sizeof(T) - 1), all = sign | (sign - 1);
  std::uint64_t const bits = __builtin_bit_cast(pattern, x);
  if (bits == sign) return sign;  // −0, like 0
  return (bits & sign) != 0 ? ~bits & all : bits | sign;
}

/// Returns exp(x) · unit, rounded to the nearest whole number. @pre x ≤ 0, unit ≤ 2^50
KOKKOS_INLINE_FUNCTION std::int64_t weight_of(double x, double unit) {
  return static_cast<std::int64_t>(exp(x) * unit + 0.5);
}

/// Below this x the weight is 0.
inline constexpr double least_weighed = -36;

/// The number of elements that the host weighs together.
inline constexpr int weighed_together = 16;

/// weights[i] <- weight_of(x[i], unit). Every call weighs the same number of elements with the same instructions:
/// elements after the last vector of a loop might be rounded differently, and the mesh would decide which elements
/// these are.
[[gnu::noinline]] inline void weigh(double const (&x)[weighed_together], double unit,
                                    std::int64_t (&weights)[weighed_together]) {
  for (int i = 0; i < weighed_together; ++i) weights[i] = weight_of(x[i], unit);
}

/// Returns x − log(−log u) for the uniform number u of element `index`. An element has the largest score of its row
/// with probability exp(x) / Σ exp(x): Gumbel, "Statistical theory of extreme values" (1954). Not inlined, so that
/// every element takes the same instructions.
[[gnu::noinline]] KOKKOS_FUNCTION inline double gumbel_score(double x, std::uint64_t key, std::uint64_t index) {
  double const u = detail::open_unit<double>(random_words(key, random_stream::sampling, index), 0);
  return x - log(-log(u));
}

}  // namespace ostraka::engine
