// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Distributions of random numbers that belong to an element: functors of the element's number in the whole
/// tensor, and of a key. Each distribution uses its own Philox counters, so that uniform and normal numbers of one seed
/// are independent.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/numbers/philox.hpp>

namespace ostraka::engine {

/// The use of a range of counters.
enum class random_stream : std::uint32_t {
  uniform = 0,
  normal,
  truncated,
  bernoulli,
  dropout,
  permutation,
  seeds,
  sampling
};

/// Returns the words of element `index`.
KOKKOS_INLINE_FUNCTION philox_words random_words(std::uint64_t key, random_stream stream, std::uint64_t index) {
  philox_words const counter{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                              static_cast<std::uint32_t>(stream), 0}};
  return philox4x32(counter, static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
}

/// Returns a key that is independent of `key` and of the keys for other numbers.
inline std::uint64_t folded_key(std::uint64_t key, std::uint64_t number) {
  philox_words const w = random_words(key, random_stream::seeds, number);
  return static_cast<std::uint64_t>(w.word[1]) << 32 | w.word[0];
}

/// The type in which numbers of T are computed.
template <class T>
using random_real = std::conditional_t<std::is_same_v<T, double>, double, float>;

namespace detail {

/// Uniform on (0, 1), symmetric about 1/2: odd multiples of 2^-24, or of 2^-53.
template <class R>
KOKKOS_INLINE_FUNCTION R open_unit(philox_words const& w, int first) {
  if constexpr (std::is_same_v<R, double>) {
    std::uint64_t const bits = (static_cast<std::uint64_t>(w.word[first]) << 32 | w.word[first + 1]) >> 12;
    return (static_cast<double>(bits) + 0.5) * (1.0 / 4503599627370496.0);
  } else {
    return (static_cast<float>(w.word[first] >> 9) + 0.5f) * (1.0f / 8388608.0f);
  }
}

/// Returns the upper 64 bits of a product.
KOKKOS_INLINE_FUNCTION std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t const a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  std::uint64_t const middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffffu)) >> 32);
}

template <class R>
KOKKOS_INLINE_FUNCTION R polynomial(R const (&c)[8], R x) {
  R sum = c[7];
  for (int k = 6; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

}  // namespace detail

/// Returns the quantile of the standard normal distribution for probability p, to about the precision of R: Wichura,
/// "Algorithm AS 241: The percentage points of the normal distribution" (1988), PPND16. @pre 0 < p < 1
template <class R>
KOKKOS_INLINE_FUNCTION R inverse_normal(R p) {
  R const q = p - R(0.5);
  if (q >= R(-0.425) && q <= R(0.425)) {
    constexpr R a[8] = {R(3.3871328727963666080e0),  R(1.3314166789178437745e+2), R(1.9715909503065514427e+3),
                        R(1.3731693765509461125e+4), R(4.5921953931549871457e+4), R(6.7265770927008700853e+4),
                        R(3.3430575583588128105e+4), R(2.5090809287301226727e+3)};
    constexpr R b[8] = {R(1),
                        R(4.2313330701600911252e+1),
                        R(6.8718700749205790830e+2),
                        R(5.3941960214247511077e+3),
                        R(2.1213794301586595867e+4),
                        R(3.9307895800092710610e+4),
                        R(2.8729085735721942674e+4),
                        R(5.2264952788528545610e+3)};
    R const r = R(0.180625) - q * q;
    return q * detail::polynomial(a, r) / detail::polynomial(b, r);
  }
  R const r = std::sqrt(-std::log(q < 0 ? p : R(1) - p));
  R far;
  if (r <= R(5)) {
    constexpr R c[8] = {R(1.42343711074968357734e0),  R(4.63033784615654529590e0), R(5.76949722146069140550e0),
                        R(3.64784832476320460504e0),  R(1.27045825245236838258e0), R(2.41780725177450611770e-1),
                        R(2.27238449892691845833e-2), R(7.74545014278341407640e-4)};
    constexpr R d[8] = {R(1),
                        R(2.05319162663775882187e0),
                        R(1.67638483018380384940e0),
                        R(6.89767334985100004550e-1),
                        R(1.48103976427480074590e-1),
                        R(1.51986665636164571966e-2),
                        R(5.47593808499534494600e-4),
                        R(1.05075007164441684324e-9)};
    far = detail::polynomial(c, r - R(1.6)) / detail::polynomial(d, r - R(1.6));
  } else {
    constexpr R e[8] = {R(6.65790464350110377720e0),  R(5.46378491116411436990e0),  R(1.78482653991729133580e0),
                        R(2.96560571828504891230e-1), R(2.65321895265761230930e-2), R(1.24266094738807843860e-3),
                        R(2.71155556874348757815e-5), R(2.01033439929228813265e-7)};
    constexpr R f[8] = {R(1),
                        R(5.99832206555887937690e-1),
                        R(1.36929880922735805310e-1),
                        R(1.48753612908506148525e-2),
                        R(7.86869131145613259100e-4),
                        R(1.84631831751005468180e-5),
                        R(1.42151175831644588870e-7),
                        R(2.04426310338993978564e-15)};
    far = detail::polynomial(e, r - R(5)) / detail::polynomial(f, r - R(5));
  }
  return q < 0 ? -far : far;
}

/// Uniform from `low` up to `high`, exclusive; for complex numbers, both parts.
template <class T>
struct uniform_number {
  using number = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  std::uint64_t key;
  number low, high;

  KOKKOS_INLINE_FUNCTION T operator()(std::uint64_t index) const {
    philox_words const w = random_words(key, random_stream::uniform, index);
    if constexpr (std::is_integral_v<T>) {
      std::uint64_t const word = static_cast<std::uint64_t>(w.word[1]) << 32 | w.word[0];
      std::uint64_t const length = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
      return static_cast<T>(static_cast<std::uint64_t>(low) + detail::high_product(word, length));
    } else {
      return part(w, static_cast<T const*>(nullptr));
    }
  }

 private:
  template <class R>
  KOKKOS_INLINE_FUNCTION R part(philox_words const& w, R const*, int first = 0) const {
    using wide = random_real<R>;
    wide const u = detail::random_from<wide>::value(w, first);
    R const x = R(wide(low) + u * (wide(high) - wide(low)));
    return x < R(wide(high)) ? x : R(wide(low));  // if rounding reached the end
  }
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> part(philox_words const& w, Kokkos::complex<R> const*) const {
    return {part(w, static_cast<R const*>(nullptr), 0), part(w, static_cast<R const*>(nullptr), 2)};
  }
};

/// Normal. Complex numbers have two normal parts, which share the variance.
template <class T>
struct normal_number {
  std::uint64_t key;
  double mean, deviation;

  KOKKOS_INLINE_FUNCTION T operator()(std::uint64_t index) const {
    return part(random_words(key, random_stream::normal, index), static_cast<T const*>(nullptr));
  }

 private:
  template <class R>
  KOKKOS_INLINE_FUNCTION R part(philox_words const& w, R const*) const {
    using wide = random_real<R>;
    return R(wide(mean) + wide(deviation) * inverse_normal(detail::open_unit<wide>(w, 0)));
  }
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> part(philox_words const& w, Kokkos::complex<R> const*) const {
    R const each = R(deviation * 0.70710678118654752440);
    return {R(mean) + each * inverse_normal(detail::open_unit<R>(w, 0)),
            each * inverse_normal(detail::open_unit<R>(w, 2))};
  }
};

/// Normal between two bounds, counted in deviations from the mean. `below`: the probability of being below the lower
/// bound; `inside`: of being between the bounds. If both bounds are above the mean, all members describe the mirrored
/// number, whose probabilities are exact.
template <class T>
struct truncated_number {
  std::uint64_t key;
  double mean, deviation, low, high, below, inside;

  static truncated_number of(std::uint64_t key, double mean, double deviation, double low, double high) {
    if (low > 0) return of(key, mean, -deviation, -high, -low);
    auto const up_to = [](double z) { return 0.5 * std::erfc(-z * 0.70710678118654752440); };
    return {key, mean, deviation, low, high, up_to(low), up_to(high) - up_to(low)};
  }

  KOKKOS_INLINE_FUNCTION T operator()(std::uint64_t index) const {
    philox_words const w = random_words(key, random_stream::truncated, index);
    double z = inverse_normal(below + detail::open_unit<double>(w, 0) * inside);
    z = !(z >= low) ? low : z > high ? high : z;  // NaN if nothing is left of the tail
    return T(random_real<T>(mean + deviation * z));
  }
};

/// 1 with this probability, otherwise 0.
template <class T>
struct bernoulli_number {
  std::uint64_t key;
  double probability;

  KOKKOS_INLINE_FUNCTION T operator()(std::uint64_t index) const {
    return is_true(random_stream::bernoulli, index) ? T(1) : T(0);
  }
  KOKKOS_INLINE_FUNCTION bool is_true(random_stream stream, std::uint64_t index) const {
    return detail::random_from<double>::value(random_words(key, stream, index)) < probability;
  }
};

/// x divided by the probability of keeping it, or 0.
template <class T>
struct dropped_number {
  bernoulli_number<T> kept;
  accumulator_of_t<T> scale;

  KOKKOS_INLINE_FUNCTION T operator()(T const& x, std::uint64_t index) const {
    return kept.is_true(random_stream::dropout, index) ? T(static_cast<accumulator_of_t<T>>(x) * scale) : T(0);
  }
};

/// The target of number i in a random permutation of 0 … n−1: a bijection, so that each device can compute its own
/// part. Up to 512 numbers are sorted by random keys, so that all permutations are equally likely. More numbers go
/// through a Feistel cipher of eight rounds on the next power of four, repeatedly until they are below n (cycle
/// walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
struct permuted_number {
  std::uint64_t key;
  std::int64_t n;

  static constexpr std::int64_t ordered = 512;

  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::uint64_t i) const {
    if (n <= ordered) return rank_of(static_cast<std::int64_t>(i));
    int half = 1;
    while (std::int64_t(1) << 2 * half < n) ++half;
    std::uint64_t x = i;
    do x = enciphered(x, half);
    while (x >= static_cast<std::uint64_t>(n));
    return static_cast<std::int64_t>(x);
  }

 private:
  KOKKOS_INLINE_FUNCTION std::uint64_t word(std::uint64_t i) const {
    philox_words const w = random_words(key, random_stream::permutation, i);
    return static_cast<std::uint64_t>(w.word[1]) << 32 | w.word[0];
  }

  KOKKOS_INLINE_FUNCTION std::int64_t rank_of(std::int64_t i) const {
    std::uint64_t const own = word(static_cast<std::uint64_t>(i));
    std::int64_t smaller = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      std::uint64_t const other = word(static_cast<std::uint64_t>(k));
      smaller += other < own || (other == own && k < i) ? 1 : 0;
    }
    return smaller;
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t enciphered(std::uint64_t x, int half) const {
    std::uint64_t const mask = (std::uint64_t(1) << half) - 1;
    std::uint64_t left = x >> half;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 8; ++round) {
      std::uint64_t const next = left ^ (word((round + 1) << 48 | right) & mask);
      left = right;
      right = next;
    }
    return left << half | right;
  }
};

}  // namespace ostraka::engine
