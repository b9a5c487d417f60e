// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Random numbers equal to JAX's, bit for bit: threefry2x32 (Salmon et al., Parallel random numbers: as easy as 1, 2,
/// 3, SC 2011), with the counters of jax.random under jax_threefry_partitionable=False. A number is a function of a
/// key, its index and the count of numbers, so each device makes the numbers of its block and nothing is sent.
///
///     constexpr auto keys = threefry::split<2>(threefry::key_of(0));     // jax.random.split(jax.random.PRNGKey(0))
///     threefry::normal(keys[0], i, n)                                    // jax.random.normal(keys[0], (n,))[i]

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <Kokkos_Macros.hpp>

namespace threefry {

/// Two words: a key, a counter, or a result of both.
struct words {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(words const&, words const&) = default;
};

/// jax.random.PRNGKey(seed) of a seed of 32 bits, as JAX's are without jax_enable_x64.
constexpr words key_of(std::int32_t seed) { return {0, static_cast<std::uint32_t>(seed)}; }

/// Threefry-2x32 of 20 rounds.
KOKKOS_FUNCTION constexpr words block(words key, words counter) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  std::uint32_t const keys[3] = {key.first, key.second, key.first ^ key.second ^ 0x1BD11BDAu};
  std::uint32_t x = counter.first + keys[0], y = counter.second + keys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int const rotation : rotations[group % 2]) {
      x += y;
      y = (y << rotation | y >> (32 - rotation)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

/// Word i of n. The counters 0, …, n-1 are two halves, whose i-th ones form one block; an odd one is paired with a
/// zero.
KOKKOS_FUNCTION constexpr std::uint32_t bits(words key, std::int64_t i, std::int64_t n) {
  std::int64_t const half = (n + 1) / 2;
  std::int64_t const low = i % half, high = low + half;
  words const made =
      block(key, {static_cast<std::uint32_t>(low), high < n ? static_cast<std::uint32_t>(high) : std::uint32_t{0}});
  return i < half ? made.first : made.second;
}

/// jax.random.split(key, N).
template <int N>
constexpr std::array<words, N> split(words key) {
  std::array<words, N> keys{};
  for (int i = 0; i < N; ++i) keys[static_cast<unsigned>(i)] = {bits(key, 2 * i, 2 * N), bits(key, 2 * i + 1, 2 * N)};
  return keys;
}

/// jax.random.uniform(key, (n,), minval=low, maxval=high)[i]: the upper 23 bits form the fraction.
KOKKOS_FUNCTION constexpr float uniform(words key, std::int64_t i, std::int64_t n, float low = 0, float high = 1) {
  float const fraction = std::bit_cast<float>(bits(key, i, n) >> 9 | 0x3F800000u) - 1.f;
  float const value = fraction * (high - low) + low;
  return value < low ? low : value;
}

/// The inverse of the error function in single precision (Giles, Approximating the erfinv function, GPU Computing Gems,
/// 2012): a polynomial in w = -log(1 - x²) near 0, one in its root in the tails.
KOKKOS_FUNCTION inline float inverse_erf(float x) {
  constexpr float centre[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                              -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
  constexpr float tails[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                             -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  float const w = -std::log1p(-x * x);
  bool const central = w < 5.f;
  float const at = central ? w - 2.5f : std::sqrt(w) - 3.f;
  float value = 0;
  for (int k = 0; k < 9; ++k) value = value * at + (central ? centre[k] : tails[k]);
  return value * x;
}

/// jax.random.normal(key, (n,))[i], to the accuracy of the logarithm.
KOKKOS_FUNCTION inline float normal(words key, std::int64_t i, std::int64_t n) {
  constexpr float above_minus_one = -0x1.fffffep-1f;  // the lower end of uniform numbers, which exclude -1
  return 1.41421356f * inverse_erf(uniform(key, i, n, above_minus_one, 1.f));
}

}  // namespace threefry
