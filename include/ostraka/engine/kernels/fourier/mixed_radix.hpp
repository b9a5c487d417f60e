// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Forward transforms of many interleaved rows, for lengths with no other prime factors than 2, 3 and 5:
/// Stockham's passes of radix 8, 4, 2, 3 and 5, from one buffer to the other, after which the numbers are in order.
/// Number k of all rows is stored together, first the real parts, then the imaginary parts (split_complex), so that the
/// innermost loop runs over rows. A single row has all real parts first, and the innermost loop covers more of the row
/// from pass to pass. One pass of radix r with n = r m, over p < m and q < s:
///
///     y[s (r p + k) + q] = w_n^(p k) Σ_j w_r^(j k) x[s (p + m j) + q];     then n is m, and s is r s
///
/// An inverse transform is a forward transform with real and imaginary parts exchanged.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/fourier/roots_of_unity.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine::detail {

/// The real and imaginary parts of the numbers of interleaved rows: number k of lane l is at k · numbers_apart(lanes) +
/// l in both.
template <class R>
struct split_complex {
  R* re;
  R* im;

  [[nodiscard]] split_complex swapped() const { return {im, re}; }
};

/// Returns the distance between the numbers of a row in a buffer of this many rows.
[[nodiscard]] constexpr std::int64_t numbers_apart(std::int64_t lanes) { return lanes == 1 ? 1 : 2 * lanes; }

/// Calls f(place) for the numbers k < count of all rows.
template <int Lanes, class F>
[[gnu::always_inline]] inline void for_each_place(std::int64_t count, F const& f) {
  if constexpr (Lanes == 1)
    for_each_independent(count, f);
  else
    for (std::int64_t begin = 0; begin < count * numbers_apart(Lanes); begin += numbers_apart(Lanes))
      for_each_independent(Lanes, [=](std::int64_t l) { f(begin + l); });
}

/// One pass of radix r over r numbers, in place, before their rotation.
template <int Radix>
struct butterfly;

template <>
struct butterfly<2> {
  template <class R>
  [[gnu::always_inline]] static void of(R* re, R* im) {
    R const r = re[0] - re[1], i = im[0] - im[1];
    re[0] += re[1], im[0] += im[1];
    re[1] = r, im[1] = i;
  }
};

template <>
struct butterfly<3> {
  template <class R>
  [[gnu::always_inline]] static void of(R* re, R* im) {
    constexpr R sine = R(0.866025403784438646763723170752936183L);
    R const sr = re[1] + re[2], si = im[1] + im[2];
    R const dr = sine * (re[1] - re[2]), di = sine * (im[1] - im[2]);
    R const mr = re[0] - R(0.5) * sr, mi = im[0] - R(0.5) * si;
    re[0] += sr, im[0] += si;
    re[1] = mr + di, im[1] = mi - dr;
    re[2] = mr - di, im[2] = mi + dr;
  }
};

template <>
struct butterfly<4> {
  template <class R>
  [[gnu::always_inline]] static void of(R* re, R* im) {
    R const ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    R const cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
    re[0] = ar + cr, im[0] = ai + ci;
    re[1] = br + di, im[1] = bi - dr;
    re[2] = ar - cr, im[2] = ai - ci;
    re[3] = br - di, im[3] = bi + dr;
  }
};

template <>
struct butterfly<5> {
  template <class R>
  [[gnu::always_inline]] static void of(R* re, R* im) {
    constexpr R c1 = R(0.309016994374947424102293417182819059L), c2 = R(-0.809016994374947424102293417182819059L);
    constexpr R s1 = R(0.951056516295153572116439333379382143L), s2 = R(0.587785252292473129168705954639072769L);
    R const ar = re[1] + re[4], ai = im[1] + im[4], br = re[1] - re[4], bi = im[1] - im[4];
    R const cr = re[2] + re[3], ci = im[2] + im[3], dr = re[2] - re[3], di = im[2] - im[3];
    R const er = re[0] + c1 * ar + c2 * cr, ei = im[0] + c1 * ai + c2 * ci;
    R const fr = re[0] + c2 * ar + c1 * cr, fi = im[0] + c2 * ai + c1 * ci;
    R const gr = s1 * br + s2 * dr, gi = s1 * bi + s2 * di;
    R const hr = s2 * br - s1 * dr, hi = s2 * bi - s1 * di;
    re[0] += ar + cr, im[0] += ai + ci;
    re[1] = er + gi, im[1] = ei - gr;
    re[2] = fr + hi, im[2] = fi - hr;
    re[3] = fr - hi, im[3] = fi + hr;
    re[4] = er - gi, im[4] = ei + gr;
  }
};

template <>
struct butterfly<8> {
  template <class R>
  [[gnu::always_inline]] static void of(R* re, R* im) {
    constexpr R half = R(0.707106781186547524400844362104849039L);
    R ar[] = {re[0] + re[4], re[1] + re[5], re[2] + re[6], re[3] + re[7]};
    R ai[] = {im[0] + im[4], im[1] + im[5], im[2] + im[6], im[3] + im[7]};
    R const cr = re[1] - re[5], ci = im[1] - im[5], dr = re[3] - re[7], di = im[3] - im[7];
    R br[] = {re[0] - re[4], half * (cr + ci), im[2] - im[6], half * (di - dr)};
    R bi[] = {im[0] - im[4], half * (ci - cr), re[6] - re[2], -half * (dr + di)};
    butterfly<4>::of(ar, ai);
    butterfly<4>::of(br, bi);
    re[0] = ar[0], re[2] = ar[1], re[4] = ar[2], re[6] = ar[3];
    im[0] = ai[0], im[2] = ai[1], im[4] = ai[2], im[6] = ai[3];
    re[1] = br[0], re[3] = br[1], re[5] = br[2], re[7] = br[3];
    im[1] = bi[0], im[3] = bi[1], im[5] = bi[2], im[7] = bi[3];
  }
};

/// One pass. `w`: the r − 1 roots for each p, each as real and imaginary part; not read if m is 1, when they are all 1.
/// No loop remains inside the loop over q, so that compilers vectorise it.
template <int Radix, int Lanes, bool IsLast, class R, int... k>
[[gnu::always_inline]] inline void pass(std::int64_t m, std::int64_t s, [[maybe_unused]] R const* w, split_complex<R> x,
                                        split_complex<R> y, std::integer_sequence<int, 0, k...>) {
  std::int64_t const side = s * numbers_apart(Lanes), apart = m * side;
  for (std::int64_t p = 0; p < m; ++p) {
    R const* const from_re = x.re + p * side;
    R const* const from_im = x.im + p * side;
    R* const to_re = y.re + p * Radix * side;
    R* const to_im = y.im + p * Radix * side;
    if constexpr (IsLast) {
      for_each_place<Lanes>(s, [=](std::int64_t q) {
        R re[] = {from_re[q], from_re[k * apart + q]...}, im[] = {from_im[q], from_im[k * apart + q]...};
        butterfly<Radix>::of(re, im);
        to_re[q] = re[0], to_im[q] = im[0];
        ((to_re[k * side + q] = re[k], to_im[k * side + q] = im[k]), ...);
      });
    } else {
      R const wr[] = {R(1), w[2 * k - 2]...}, wi[] = {R(0), w[2 * k - 1]...};
      w += 2 * (Radix - 1);
      for_each_place<Lanes>(s, [=](std::int64_t q) {
        R re[] = {from_re[q], from_re[k * apart + q]...}, im[] = {from_im[q], from_im[k * apart + q]...};
        butterfly<Radix>::of(re, im);
        to_re[q] = re[0], to_im[q] = im[0];
        ((to_re[k * side + q] = re[k] * wr[k] - im[k] * wi[k]), ...);
        ((to_im[k * side + q] = re[k] * wi[k] + im[k] * wr[k]), ...);
      });
    }
  }
}
template <int Radix, int Lanes, class R>
[[gnu::always_inline]] inline void pass(std::int64_t m, std::int64_t s, R const* w, split_complex<R> x,
                                        split_complex<R> y) {
  if (m == 1)
    pass<Radix, Lanes, true>(m, s, w, x, y, std::make_integer_sequence<int, Radix>{});
  else
    pass<Radix, Lanes, false>(m, s, w, x, y, std::make_integer_sequence<int, Radix>{});
}

/// The passes of one length.
template <class R>
class mixed_radix {
 public:
  mixed_radix() = default;
  /// @pre has_factors(n)
  explicit mixed_radix(std::int64_t n) : length_(n) {
    while (n > 1) {
      int const radix = next_radix(n);
      std::int64_t const m = n / radix;
      radices_.push_back(radix);
      for (std::int64_t p = 0; p < m; ++p)
        for (std::int64_t k = 1; k < radix; ++k) {
          root_of_unity<R> const w = root<R>(p * k % n, n);
          roots_.push_back(w.re);
          roots_.push_back(w.im);
        }
      n = m;
    }
  }

  /// True if there are passes for this length.
  [[nodiscard]] static bool has_factors(std::int64_t n) {
    if (n <= 0) return false;
    for (int const radix : {2, 3, 5})
      while (n % radix == 0) n /= radix;
    return n == 1;
  }

  [[nodiscard]] std::int64_t length() const { return length_; }

  /// Transforms `Lanes` rows in x, with y as a second buffer. Returns the buffer that has the result.
  template <int Lanes>
  [[gnu::always_inline]] split_complex<R> run(split_complex<R> x, split_complex<R> y) const {
    R const* w = roots_.data();
    std::int64_t n = length_, s = 1;
    for (int const radix : radices_) {
      std::int64_t const m = n / radix;
      switch (radix) {
        case 2:
          pass<2, Lanes>(m, s, w, x, y);
          break;
        case 3:
          pass<3, Lanes>(m, s, w, x, y);
          break;
        case 4:
          pass<4, Lanes>(m, s, w, x, y);
          break;
        case 5:
          pass<5, Lanes>(m, s, w, x, y);
          break;
        default:
          pass<8, Lanes>(m, s, w, x, y);
      }
      w += 2 * (radix - 1) * m;
      n = m;
      s *= radix;
      std::swap(x, y);
    }
    return x;
  }

 private:
  // As few passes as possible: 16 is 4 · 4, not 8 · 2.
  static int next_radix(std::int64_t n) {
    for (int const radix : {3, 5})
      if (n % radix == 0) return radix;
    return n % 8 == 0 && n != 16 ? 8 : n % 4 == 0 ? 4 : 2;
  }

  std::int64_t length_ = 1;
  dynamic_array<int> radices_;
  dynamic_array<R> roots_;
};

}  // namespace ostraka::engine::detail
