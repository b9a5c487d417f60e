// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Random numbers that belong to an element and not to a device: a function of the seed and the element's
/// global index, so that A[I_X, J_Y] holds the same numbers on every mesh. Philox4x32-10 of Salmon, Moraes, Dror and
/// Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// The four words that the generator returns for a counter and a key.
struct philox_words {
  std::uint32_t word[4];
};

/// Philox4x32 with ten rounds.
KOKKOS_INLINE_FUNCTION philox_words philox4x32(philox_words counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const product0 = std::uint64_t(0xD2511F53u) * counter.word[0];
    std::uint64_t const product1 = std::uint64_t(0xCD9E8D57u) * counter.word[2];
    counter = {
        {static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9u;  // golden ratio
    key1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

namespace detail {

/// Turns the words into a value.
template <class T>
struct random_from;

/// Uniform on [0, 1): a multiple of 2^-24, so that rounding never yields 1.
template <>
struct random_from<float> {
  KOKKOS_INLINE_FUNCTION static float value(philox_words const& w, int first = 0) {
    return static_cast<float>(w.word[first] >> 8) * (1.0f / 16777216.0f);
  }
};

/// Uniform on [0, 1): a multiple of 2^-53.
template <>
struct random_from<double> {
  KOKKOS_INLINE_FUNCTION static double value(philox_words const& w, int first = 0) {
    double const high = static_cast<double>(w.word[first] >> 5);       // 27 bits
    double const low = static_cast<double>(w.word[first + 1] >> 6);    // 26 bits
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
  }
};

/// Uniform on [0, 1): a multiple of 2^-11.
template <>
struct random_from<float16> {
  KOKKOS_INLINE_FUNCTION static float16 value(philox_words const& w) {
    return float16(static_cast<float>(w.word[0] >> 21) * (1.0f / 2048.0f));
  }
};

/// Uniform on [0, 1): a multiple of 2^-8.
template <>
struct random_from<bfloat16> {
  KOKKOS_INLINE_FUNCTION static bfloat16 value(philox_words const& w) {
    return bfloat16(static_cast<float>(w.word[0] >> 24) * (1.0f / 256.0f));
  }
};

/// Real and imaginary part, each uniform on [0, 1).
template <class T>
struct random_from<Kokkos::complex<T>> {
  KOKKOS_INLINE_FUNCTION static Kokkos::complex<T> value(philox_words const& w) {
    return {random_from<T>::value(w, 0), random_from<T>::value(w, 2)};
  }
};

/// Uniform on 0 … 99: small, so that products and sums in tests are exact.
template <>
struct random_from<std::int32_t> {
  KOKKOS_INLINE_FUNCTION static std::int32_t value(philox_words const& w) {
    return static_cast<std::int32_t>((std::uint64_t(w.word[0]) * 100u) >> 32);
  }
};

template <>
struct random_from<std::int64_t> : random_from<std::int32_t> {};

/// The same 0 … 99.
template <>
struct random_from<std::int16_t> {
  KOKKOS_INLINE_FUNCTION static std::int16_t value(philox_words const& w) {
    return static_cast<std::int16_t>(random_from<std::int32_t>::value(w));
  }
};
template <>
struct random_from<std::int8_t> {
  KOKKOS_INLINE_FUNCTION static std::int8_t value(philox_words const& w) {
    return static_cast<std::int8_t>(random_from<std::int32_t>::value(w));
  }
};

/// True or false, with equal probability.
template <>
struct random_from<bool> {
  KOKKOS_INLINE_FUNCTION static bool value(philox_words const& w) { return w.word[0] >> 31 != 0; }
};

}  // namespace detail

/// Returns the random value of element `index` (row-major in the whole tensor) for this seed: floating-point numbers
/// uniform on [0, 1), integers on 0 … 99, bools true or false.
template <class T>
KOKKOS_INLINE_FUNCTION T random_value(std::uint64_t seed, std::uint64_t index) {
  philox_words const counter{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}};
  return detail::random_from<T>::value(
      philox4x32(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)));
}

}  // namespace ostraka::engine
