// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Forward transforms of any length, of interleaved rows (mixed_radix.hpp). Lengths with other prime factors
/// use Bluestein's convolution: with jk = (j² + k² − (k − j)²) / 2 and c_j = e^(−πi j²/n),
///
///     y_k = c_k Σ_j (x_j c_j) conj(c_(k−j))
///
/// is a product of spectra of a length of at least 2n − 1 that has passes. A host thread remembers the plans that it
/// used last.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <ostraka/engine/kernels/fourier/mixed_radix.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine::detail {

/// The plan for rows of one length.
template <class R>
class fourier_plan {
 public:
  /// `joins_halves`: rows of n complex numbers represent 2n real numbers (real_spectrum.hpp).
  fourier_plan(std::int64_t n, bool joins_halves) : length_(n), joins_halves_(joins_halves), passes_(passes_for(n)) {
    if (length_ < passes_.length()) make_convolution();
    for (std::int64_t k = 0; joins_halves && k <= n; ++k) joins_.push_back(root<R>(k, 2 * n));
  }

  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] bool joins_halves() const { return joins_halves_; }

  /// e^(−πi k/n) for k ≤ n.
  [[nodiscard]] root_of_unity<R> const* joins() const { return joins_.data(); }

  /// Returns the number of elements of a row in buffers, at least its length.
  [[nodiscard]] std::int64_t room() const { return passes_.length(); }

  /// Transforms `Lanes` rows in x, with y as a second buffer. Returns the buffer that has the result.
  template <int Lanes>
  [[gnu::always_inline]] split_complex<R> run(split_complex<R> x, split_complex<R> y) const {
    if (chirp_.size() == 0) return passes_.template run<Lanes>(x, y);
    for (int turn = 0; turn < 2; ++turn) {  // one loop, so that the passes are instantiated once here
      R const* const factors = turn == 0 ? chirp_.data() : spectrum_.data();
      multiply<Lanes>(turn == 0 ? length_ : room(), factors, x);
      if (turn == 0) clear<Lanes>(length_, room(), x);
      split_complex<R> const from = turn == 0 ? x : x.swapped(), other = turn == 0 ? y : y.swapped();
      split_complex<R> const done = passes_.template run<Lanes>(from, other);
      bool const stayed = done.re == from.re;
      if (!stayed) std::swap(x, y);
    }
    multiply<Lanes>(length_, chirp_.data(), x);
    return x;
  }

 private:
  static std::int64_t passes_for(std::int64_t n) {
    if (n <= 1) return 1;
    if (mixed_radix<R>::has_factors(n)) return n;
    std::int64_t m = 2 * n - 1;
    while (!mixed_radix<R>::has_factors(m)) ++m;
    return m;
  }

  void make_convolution() {
    std::int64_t const n = length_, m = room();
    dynamic_array<R> memory(static_cast<std::size_t>(4 * m), R(0));
    split_complex<R> const x{memory.data(), memory.data() + m}, y{memory.data() + 2 * m, memory.data() + 3 * m};
    for (std::int64_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
      root_of_unity<R> const c = root<R>(square, 2 * n);
      chirp_.push_back(c.re);
      chirp_.push_back(c.im);
      std::int64_t const mirrored = j == 0 ? 0 : m - j;
      x.re[j] = x.re[mirrored] = c.re;
      x.im[j] = x.im[mirrored] = -c.im;
    }
    split_complex<R> const done = passes_.template run<1>(x, y);
    for (std::int64_t k = 0; k < m; ++k) {
      spectrum_.push_back(done.re[k] / static_cast<R>(m));
      spectrum_.push_back(done.im[k] / static_cast<R>(m));
    }
  }

  template <int Lanes>
  [[gnu::always_inline]] static void clear(std::int64_t begin, std::int64_t end, split_complex<R> x) {
    for (std::int64_t k = begin; k < end; ++k)
      for (std::int64_t at = k * numbers_apart(Lanes), l = 0; l < Lanes; ++l) x.re[at + l] = x.im[at + l] = R(0);
  }

  template <int Lanes>
  [[gnu::always_inline]] static void multiply(std::int64_t n, R const* factors, split_complex<R> x) {
    for (std::int64_t k = 0; k < n; ++k) {
      R const cr = factors[2 * k], ci = factors[2 * k + 1];
      R* const re = x.re + k * numbers_apart(Lanes);
      R* const im = x.im + k * numbers_apart(Lanes);
      for_each_independent(Lanes, [=](std::int64_t l) {
        R const r = re[l] * cr - im[l] * ci;
        im[l] = re[l] * ci + im[l] * cr;
        re[l] = r;
      });
    }
  }

  std::int64_t length_;
  bool joins_halves_;
  mixed_radix<R> passes_;
  dynamic_array<R> chirp_;     // c_j; empty if the length has passes
  dynamic_array<R> spectrum_;  // spectrum of its conjugate, over the length of the convolution
  dynamic_array<root_of_unity<R>> joins_;
};

/// The plans that a host thread used last.
template <class R>
class known_fourier_plans {
 public:
  /// Returns the plan for rows of this length, which exists as long as the caller holds it.
  [[nodiscard]] std::shared_ptr<fourier_plan<R> const> of(std::int64_t n, bool joins_halves) {
    for (auto const& plan : plans_)
      if (plan->length() == n && plan->joins_halves() == joins_halves) return plan;
    return plans_.add(std::make_shared<fourier_plan<R> const>(n, joins_halves));
  }

  [[nodiscard]] static known_fourier_plans& mine() {
    static thread_local constinit known_fourier_plans* plans = nullptr;
    return per_thread(plans);
  }

 private:
  recent_entries<std::shared_ptr<fourier_plan<R> const>, 16> plans_;
};

}  // namespace ostraka::engine::detail
