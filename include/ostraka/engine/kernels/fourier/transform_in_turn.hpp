// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms along several dimensions of a dense block. The dimensions from the first transformed one
/// to the last of the block form a chunk: [J, L] of [I, J, L] is a plane. If a cache holds a chunk, our own code
/// transforms it along all its dimensions before the next chunk, so that the block is read and written once. A library
/// transforms the whole block along one dimension after the other, since FFTW's estimated plans are slower for single
/// planes.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/fourier/fourier_library.hpp>
#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/engine/kernels/fourier/own_fourier.hpp>
#include <ostraka/engine/kernels/fourier/transform_rows.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The execution space of a share of a kernel: everything runs on the calling thread.
struct calling_thread {
  using memory_space = Kokkos::HostSpace;
  static constexpr int concurrency() { return 1; }
};

template <class Functor>
void for_each_item(char const*, calling_thread const&, std::int64_t items, std::int64_t, Functor const& functor) {
  for (std::int64_t i = 0; i < items; ++i) functor(i);
}

namespace detail {

/// Transforms, one after the other: each reads the results of the previous one.
struct fourier_group {
  fourier_rows const* rows;
  int count;

  [[nodiscard]] std::int64_t chunks() const {
    std::int64_t least = rows[0].outer;
    for (int k = 1; k < count; ++k) least = std::min(least, rows[k].outer);
    return least;
  }
  /// Returns the most numbers that a transform of a chunk reads or writes. @pre there are chunks
  [[nodiscard]] std::int64_t numbers_of_chunk() const {
    std::int64_t most = 0;
    for (int k = 0; k < count; ++k) most = std::max(most, rows[k].count() * rows[k].n);
    return most / chunks();
  }
  /// True if chunks have elements, fit a cache, and are enough for all threads.
  template <class R>
  [[nodiscard]] bool is_cached(std::int64_t threads) const {
    constexpr std::int64_t cached = std::int64_t{1} << 21;
    for (int k = 0; k < count; ++k)
      if (rows[k].count() * rows[k].n == 0) return false;
    return 2 * numbers_of_chunk() * static_cast<std::int64_t>(sizeof(R)) <= cached && chunks() >= threads;
  }
};

/// y <- the transforms of x, chunk by chunk. @pre chunks fit a cache
template <class Exec, class R>
void transform_chunks(Exec const& exec, fourier_group const& all, R const* x, R* y) {
  fourier_rows const &first = all.rows[0], &last = all.rows[all.count - 1];
  std::int64_t const chunks = all.chunks(), size = chunks * all.numbers_of_chunk();
  std::int64_t const read = first.numbers_read() / chunks, written = last.numbers_written() / chunks;
  std::int64_t const between = has_real_result(last.kind) ? 2 * all.numbers_of_chunk() : 0;
  std::int64_t const shares = std::min<std::int64_t>(chunks, exec.concurrency() > 1 ? 4 * exec.concurrency() : 1);
  for_each_share("ostraka fourier", exec, chunks, shares, size,
                 [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                   kernel_scratch<R, Kokkos::HostSpace> const memory(between);
                   for (std::int64_t c = begin; c < end; ++c) {
                     R const* from = x + c * read;
                     for (int k = 0; k < all.count; ++k) {
                       fourier_rows rows = all.rows[k];
                       rows.outer /= chunks;
                       R* const to = k + 1 < all.count && between > 0 ? memory.data() : y + c * written;
                       run_own_fourier(calling_thread(), rows, from, to);
                       from = to;
                     }
                   }
                 });
}

}  // namespace detail

/// y <- the transforms of x along several dimensions, one after the other. Only the first may read real numbers, and
/// only the last write them.
/// @pre x and y share no memory, or are the same and all rows stay complex numbers of one length
template <class Exec, class R>
void transform_in_turn(Exec const& exec, fourier_rows const* rows, int count, R const* x, R* y) {
  constexpr bool by_chunks = runs_on_host<Exec> && !fourier_library_of<Exec>::template transforms<R>;
  bool const is_real = has_real_result(rows[count - 1].kind);
  kernel_scratch<R, typename Exec::memory_space> memory;
  for (int begin = 0, end = 0; begin < count; begin = end) {
    end = begin + 1;
    if constexpr (by_chunks)
      while (end < count && detail::fourier_group{rows + begin, end + 1 - begin}.is_cached<R>(exec.concurrency()))
        ++end;
    if (is_real && end < count && memory.data() == nullptr)
      memory = kernel_scratch<R, typename Exec::memory_space>(rows[begin].numbers_written());
    R* const to = is_real && end < count ? memory.data() : y;
    detail::fourier_group const group{rows + begin, end - begin};
    if (group.count == 1)
      transform_rows(exec, rows[begin], x, to);
    else if constexpr (by_chunks)
      if (computes()) detail::transform_chunks(exec, group, x, to);
    x = to;
  }
}

}  // namespace ostraka::engine
