// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Our own Fourier transforms on the host, for all lengths, which need no library. Rows are read into a buffer
/// side by side, as many as a vector of the widest processors has numbers, transformed there, and written out: so an
/// axis with a stride costs what the last one costs, and lengths of any kind are vectorised. A few long rows are
/// transformed one by one, where vectors run along the row.

#include <algorithm>
#include <cstdint>
#include <memory>

#include <ostraka/engine/kernels/fourier/fourier_plan.hpp>
#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/engine/kernels/fourier/real_spectrum.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// Numbers in memory that rows side by side are read from, or written to: number k of lane l is x[at[l] + k step], and
/// its imaginary part so much further; 0: there is none.
template <class T>
struct rows_in_memory {
  T* x;
  std::int64_t at[16];
  int used;  // lanes
  std::int64_t step, imaginary;

  /// How far lanes are from each other, if it is the same for all.
  [[nodiscard]] std::int64_t distance() const {
    std::int64_t const d = used > 1 ? at[1] - at[0] : 0;
    for (int l = 1; l < used; ++l)
      if (at[l] - at[l - 1] != d) return 0;
    return d;
  }
};

inline constexpr std::int64_t rows_in_turns = 16;  // elements of a row, before the next row has its turn

/// Calls f(k, l, place) for all elements: lane by lane where rows are runs in memory, else element by element.
template <int Distance, class T, class F>
[[gnu::always_inline]] inline void for_each_element(rows_in_memory<T> const& rows, std::int64_t count, F const& f) {
  if constexpr (Distance > 0) {
    for (std::int64_t k = 0; k < count; ++k)
      for (int l = 0; l < rows.used; ++l) f(k, l, rows.at[0] + k * rows.step + l * Distance);
  } else {
    for (std::int64_t begin = 0; begin < count; begin += rows_in_turns)
      for (int l = 0; l < rows.used; ++l)
        for (std::int64_t k = begin; k < std::min(begin + rows_in_turns, count); ++k)
          f(k, l, rows.at[l] + k * rows.step);
  }
}

template <int Distance, class R>
[[gnu::noinline]] void read_lanes(rows_in_memory<R const> const& rows, std::int64_t count, int lanes,
                                  split_complex<R> to) {
  if (rows.used < lanes)
    for (std::int64_t k = 0; k < count; ++k)
      for (int l = rows.used; l < lanes; ++l) to.re[k * lanes + l] = to.im[k * lanes + l] = R(0);
  if (rows.imaginary > 0)
    for_each_element<Distance>(rows, count, [&](std::int64_t k, int l, std::int64_t place) {
      to.re[k * lanes + l] = rows.x[place];
      to.im[k * lanes + l] = rows.x[place + rows.imaginary];
    });
  else
    for_each_element<Distance>(rows, count, [&](std::int64_t k, int l, std::int64_t place) {
      to.re[k * lanes + l] = rows.x[place];
      to.im[k * lanes + l] = R(0);
    });
}

template <int Distance, class R>
[[gnu::noinline]] void write_lanes(rows_in_memory<R> const& rows, std::int64_t count, int lanes, R factor,
                                   split_complex<R> from) {
  if (rows.imaginary > 0)
    for_each_element<Distance>(rows, count, [&](std::int64_t k, int l, std::int64_t place) {
      rows.x[place] = factor * from.re[k * lanes + l];
      rows.x[place + rows.imaginary] = factor * from.im[k * lanes + l];
    });
  else
    for_each_element<Distance>(rows, count, [&](std::int64_t k, int l, std::int64_t place) {
      rows.x[place] = factor * from.re[k * lanes + l];
    });
}

/// Calls f with the distance of lanes as a constant.
template <class T, class F>
void with_distance(rows_in_memory<T> const& rows, F const& f) {
  switch (rows.distance()) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    default:
      return f.template operator()<0>();
  }
}

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
        x_(x),
        y_(y) {}

  /// Batches of rows.
  [[nodiscard]] std::int64_t batches() const { return (rows_.count() + lanes_ - 1) / lanes_; }
  /// Numbers that a batch needs room for.
  [[nodiscard]] std::int64_t room() const { return 4 * room_ * lanes_; }

  void run(std::int64_t batch, R* memory) const {
    std::int64_t const size = room_ * lanes_;
    split_complex<R> a{memory, memory + size}, b{memory + 2 * size, memory + 3 * size};
    read(batch, a);
    if (gives_reals(rows_.kind)) {
      if (rows_.kind == fourier_kind::rfft_transposed) conjugate_half(rows_.n, lanes_, false, a);
      if (pairs_) {
        pairs_from_spectrum(rows_.n / 2, lanes_, plan_->joins(), a, b);
        std::swap(a, b);
      } else {
        complete_spectrum(rows_.n, lanes_, a);
      }
    }
    split_complex<R> const done = transform(a, b);
    if (done.re != a.re) std::swap(a, b);
    if (gives_half(rows_.kind) && pairs_) {
      spectrum_from_pairs(rows_.n / 2, lanes_, plan_->joins(), a, b);
      std::swap(a, b);
    }
    if (rows_.kind == fourier_kind::irfft_transposed) conjugate_half(rows_.n, lanes_, true, a);
    write(batch, a);
  }

 private:
  // Rows one by one where there are few, or where a batch of rows that are runs in memory leaves the cache.
  static int lanes_for(fourier_rows const& rows, std::int64_t room) {
    constexpr std::int64_t cached = std::int64_t{1} << 21;
    bool const is_large = 4 * room * wide * static_cast<std::int64_t>(sizeof(R)) > cached;
    return 2 * rows.count() < wide || (is_large && rows.step == 1) ? 1 : wide;
  }

  // The result, in one of the two.
  split_complex<R> transform(split_complex<R> a, split_complex<R> b) const {
    bool const inverse = rows_.is_inverse();
    split_complex<R> const from = inverse ? a.swapped() : a, other = inverse ? b.swapped() : b;
    split_complex<R> done{};
    if (lanes_ == 1)
      with_wide_vectors([&] { done = plan_->template run<1>(1, from, other); });
    else
      with_wide_vectors([&] { done = plan_->template run<wide>(wide, from, other); });
    return inverse ? done.swapped() : done;
  }

  // 1/n of an inverse transform. Pairs are half as many numbers; halves of their sums are taken where they are joined.
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

  template <class T, class First>
  rows_in_memory<T> lanes_of(std::int64_t batch, T* memory, bool real, First const& first) const {
    std::int64_t const begin = batch * lanes_, unit = real ? 1 : 2;
    rows_in_memory<T> lanes{memory,
                            {},
                            static_cast<int>(std::min<std::int64_t>(lanes_, rows_.count() - begin)),
                            (real && !pairs_ ? 1 : 2) * rows_.step,
                            !real    ? 1
                            : pairs_ ? rows_.step
                                     : 0};
    for (int l = 0; l < lanes.used; ++l) lanes.at[l] = unit * first(begin + l);
    return lanes;
  }

  void read(std::int64_t batch, split_complex<R> to) const {
    bool const pairs = pairs_ && rows_.of_reals;
    auto const lanes = lanes_of(batch, x_, rows_.of_reals, [&](std::int64_t row) { return rows_.first_read(row); });
    with_distance(lanes, [&]<int Distance>() {
      read_lanes<Distance>(lanes, pairs ? rows_.n / 2 : rows_.length_read(), lanes_, to);
    });
  }

  void write(std::int64_t batch, split_complex<R> from) const {
    bool const real = gives_reals(rows_.kind);
    auto const lanes = lanes_of(batch, y_, real, [&](std::int64_t row) { return rows_.first_written(row); });
    with_distance(lanes, [&]<int Distance>() {
      write_lanes<Distance>(lanes, real && pairs_ ? rows_.n / 2 : rows_.length_written(), lanes_, factor(), from);
    });
  }

  fourier_rows rows_;
  bool pairs_;  // are real rows of an even length, as half as many complex numbers?
  std::shared_ptr<fourier_plan<R> const> plan_;
  std::int64_t room_;
  int lanes_;
  R const* x_;
  R* y_;
};

/// y <- the transforms of x. @pre n > 0; x and y share no memory
template <class Exec, class R>
void run_own_fourier(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
  own_fourier<R> const all(rows, x, y);
  std::int64_t const size = rows.count() * rows.n, batches = all.batches();
  std::int64_t const most = 4 * static_cast<std::int64_t>(exec.concurrency());
  std::int64_t const shares = std::min({batches, size / serial_elements + 1, most});
  kernel_scratch<R, Kokkos::HostSpace> const memory(shares * all.room());
  for_each_share("ostraka fourier", exec, batches, shares, size,
                 [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                   for (std::int64_t batch = begin; batch < end; ++batch)
                     all.run(batch, memory.data() + share * all.room());
                 });
}

}  // namespace ostraka::engine::detail
