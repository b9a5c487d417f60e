// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Our own Fourier transforms on the host, for all lengths, without a library. They read rows into a buffer,
/// interleaved, as many as the widest vectors have numbers, transform them there, and write them back. So any axis
/// costs as much as the last one, and all lengths vectorise. A few long rows are transformed one by one, with vectors
/// along the row.

#include <algorithm>
#include <cstdint>
#include <memory>

#include <ostraka/engine/kernels/fourier/fourier_lanes.hpp>
#include <ostraka/engine/kernels/fourier/fourier_plan.hpp>
#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/engine/kernels/fourier/real_spectrum.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// Transforms of rows of a block.
template <class R>
class own_fourier {
 public:
  static constexpr int wide = 64 / static_cast<int>(sizeof(R));

  own_fourier(fourier_rows const& rows, R const* x, R* y)
      : rows_(rows),
        pairs_(rows.is_real() && rows.n % 2 == 0),
        plan_(known_fourier_plans<R>::mine().of(pairs_ ? rows.n / 2 : rows.n, pairs_)),
        room_(std::max(plan_->room(), pairs_ ? rows.n / 2 + 1 : rows.n)),
        lanes_(lanes_for(rows, room_)),
        together_(together_for(rows.step)),
        x_(x),
        y_(y) {}

  /// Returns the number of batches of rows.
  [[nodiscard]] std::int64_t batches() const { return (rows_.count() + lanes_ - 1) / lanes_; }
  /// Returns the size of the buffers of the batches that are read together, in numbers.
  [[nodiscard]] std::int64_t room() const { return (together_ + 1) * size_of_buffer(); }

  /// Transforms a range of batches.
  void run(std::int64_t begin, std::int64_t end, R* memory) const {
    for (std::int64_t batch = begin, count = 0; batch < end; batch += count) {
      count = std::min<std::int64_t>(end - batch, are_together(batch) ? together_ : 1);
      run_together(batch, static_cast<int>(count), memory);
    }
  }

 private:
  static constexpr int most_together = 8;

  // Two more cache lines keep parts whose size is a power of two from sharing cache sets.
  [[nodiscard]] std::int64_t size_of_buffer() const { return 2 * room_ * lanes_ + 4 * wide; }

  [[nodiscard]] split_complex<R> buffer(std::int64_t at, R* memory) const {
    R* const begin = memory + at * size_of_buffer();
    return {begin, begin + (lanes_ == 1 ? size_of_buffer() / 2 : lanes_)};
  }

  // True if the rows of this batch, and of the batches read together with it, are interleaved in memory.
  [[nodiscard]] bool are_together(std::int64_t batch) const {
    std::int64_t const first = batch * lanes_, count = together_ * lanes_;
    return together_ > 1 && first + count <= rows_.count() && first % rows_.step + count <= rows_.step;
  }

  // Reads batches, transforms one after the other, and writes them.
  void run_together(std::int64_t batch, int count, R* memory) const {
    split_complex<R> all[most_together], spare = buffer(count, memory);
    for (int b = 0; b < count; ++b) all[b] = buffer(b, memory);
    read(batch, all, count);
    for (int b = 0; b < count; ++b) transform_batch(all[b], spare);
    write(batch, all, count);
  }

  // Transforms a; the result is in a, and the two buffers may be exchanged.
  void transform_batch(split_complex<R>& a, split_complex<R>& b) const {
    if (has_real_result(rows_.kind)) {
      if (rows_.kind == fourier_kind::rfft_transposed) conjugate_half(rows_.n, lanes_, false, a);
      if (pairs_) {
        with_wide_vectors([&] { pairs_from_spectrum(rows_.n / 2, lanes_, plan_->joins(), a, b); });
        std::swap(a, b);
      } else {
        complete_spectrum(rows_.n, lanes_, a);
      }
    }
    split_complex<R> const done = transform(a, b);
    if (done.re != a.re) std::swap(a, b);
    if (has_half_spectrum(rows_.kind) && pairs_) {
      with_wide_vectors([&] { spectrum_from_pairs(rows_.n / 2, lanes_, plan_->joins(), a, b); });
      std::swap(a, b);
    }
    if (rows_.kind == fourier_kind::irfft_transposed) conjugate_half(rows_.n, lanes_, true, a);
  }

  // Returns 1, for rows one by one, if there are few rows, or if a batch of rows that are runs in memory does not fit
  // the cache.
  static int lanes_for(fourier_rows const& rows, std::int64_t room) {
    constexpr std::int64_t cached = std::int64_t{1} << 21;
    bool const is_large = 4 * room * wide * static_cast<std::int64_t>(sizeof(R)) > cached;
    return 2 * rows.count() < wide || (is_large && rows.step == 1) ? 1 : wide;
  }

  // Returns the number of batches of interleaved rows that are read together, so that several neighbouring cache lines
  // of each page are read, not one. Their buffers stay in a cache.
  [[nodiscard]] int together_for(std::int64_t step) const {
    constexpr std::int64_t cached = std::int64_t{1} << 19;
    std::int64_t const fit = cached / (size_of_buffer() * static_cast<std::int64_t>(sizeof(R)));
    std::int64_t const most = std::min<std::int64_t>({most_together, fit, step / lanes_});
    return lanes_ == wide ? static_cast<int>(std::max<std::int64_t>(most, 1)) : 1;
  }

  // Returns the buffer that has the result.
  split_complex<R> transform(split_complex<R> a, split_complex<R> b) const {
    bool const inverse = rows_.is_inverse();
    split_complex<R> const from = inverse ? a.swapped() : a, other = inverse ? b.swapped() : b;
    split_complex<R> done{};
    if (lanes_ == 1)
      with_wide_vectors([&] { done = plan_->template run<1>(from, other); });
    else
      with_wide_vectors([&] { done = plan_->template run<wide>(from, other); });
    return inverse ? done.swapped() : done;
  }

  // Returns the factor of the results: 1/n for an inverse transform. Pairs are half as many numbers, and
  // real_spectrum.hpp halves their sums.
  [[nodiscard]] R factor() const {
    R const n = static_cast<R>(rows_.n);
    switch (rows_.kind) {
      case fourier_kind::ifft:
        return R(1) / n;
      case fourier_kind::irfft:
        return (pairs_ ? R(2) : R(1)) / n;
      case fourier_kind::rfft_transposed:
        return pairs_ ? R(2) : R(1);
      case fourier_kind::irfft_transposed:
        return R(1) / n;
      default:
        return R(1);
    }
  }

  // Returns the lanes of a batch, whose rows have `length` numbers in memory.
  template <class T>
  rows_in_memory<T> lanes_of(std::int64_t batch, T* memory, bool real, std::int64_t length) const {
    std::int64_t const begin = batch * lanes_, unit = real ? 1 : 2;
    rows_in_memory<T> lanes{memory,
                            {},
                            static_cast<int>(std::min<std::int64_t>(lanes_, rows_.count() - begin)),
                            (real && !pairs_ ? 1 : 2) * rows_.step,
                            !real    ? 1
                            : pairs_ ? rows_.step
                                     : 0};
    std::int64_t outer = begin / rows_.step, inner = begin % rows_.step;
    for (int l = 0; l < lanes.used; ++l) {
      lanes.at[l] = unit * (outer * rows_.step * length + inner);
      if (++inner == rows_.step) inner = 0, ++outer;
    }
    return lanes;
  }

  void read(std::int64_t batch, split_complex<R> const* to, int count) const {
    auto const lanes = lanes_of(batch, x_, rows_.of_reals, rows_.length_read());
    std::int64_t const length = pairs_ && rows_.of_reals ? rows_.n / 2 : rows_.length_read();
    lanes_ == 1 ? read_lanes<1>(lanes, length, to, count) : read_lanes<wide>(lanes, length, to, count);
  }

  void write(std::int64_t batch, split_complex<R> const* from, int count) const {
    bool const real = has_real_result(rows_.kind);
    auto const lanes = lanes_of(batch, y_, real, rows_.length_written());
    std::int64_t const length = real && pairs_ ? rows_.n / 2 : rows_.length_written();
    lanes_ == 1 ? write_lanes<1>(lanes, length, factor(), from, count)
                : write_lanes<wide>(lanes, length, factor(), from, count);
  }

  fourier_rows rows_;
  bool pairs_;  // true if rows are real, of an even length, and transformed as half as many complex numbers
  std::shared_ptr<fourier_plan<R> const> plan_;
  std::int64_t room_;
  int lanes_;
  int together_;
  R const* x_;
  R* y_;
};

/// y <- the transforms of x, like transform_rows. A batch is read before it is written. @pre n > 0
template <class Exec, class R>
void run_own_fourier(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
  own_fourier<R> const all(rows, x, y);
  std::int64_t const size = rows.count() * rows.n, batches = all.batches();
  std::int64_t const most = 4 * static_cast<std::int64_t>(exec.concurrency());
  std::int64_t const shares = std::min({batches, size / serial_elements + 1, most});
  kernel_scratch<R, Kokkos::HostSpace> const memory(shares * all.room());
  for_each_share("ostraka fourier", exec, batches, shares, size,
                 [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                   all.run(begin, end, memory.data() + share * all.room());
                 });
}

}  // namespace ostraka::engine::detail
