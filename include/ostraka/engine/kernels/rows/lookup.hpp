// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Looks up rows of a block: out[b, d] = table[index[b], d]. An index outside the block's range reads zeros,
/// so that the devices' results from parts of a table add up to the result from the whole table.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>

namespace ostraka::engine {

/// A block's range along the axis to which the indices refer, and the stride along that axis.
struct index_window {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t stride = 0;

  /// Returns the offset of index i; −1 outside the range.
  template <class Index>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t find(Index i) const {
    std::int64_t const at = static_cast<std::int64_t>(i) - first;
    return static_cast<std::uint64_t>(at) < static_cast<std::uint64_t>(count) ? at * stride : -1;
  }
};

namespace detail {

template <class T, class Index>
struct look_up_element {
  loop_nest<3> loops;
  index_window window;
  T* out;
  T const* table;
  Index const* index;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t offset[3];
    loops.locate(i, offset);
    std::int64_t const at = window.find(index[offset[2]]);
    out[offset[0]] = at < 0 ? T(0) : table[offset[1] + at];
  }
};

// Looks up `n` elements of one row, or of the rows of `n` neighbouring indices.
template <class T, class Index>
void look_up_run(index_window const& window, std::int64_t n, T* out, std::int64_t out_step, T const* table,
                 std::int64_t table_step, Index const* index, std::int64_t index_step) {
  if (index_step != 0) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t const at = window.find(index[k * index_step]);
      out[k * out_step] = at < 0 ? T(0) : table[k * table_step + at];
    }
    return;
  }
  std::int64_t const at = window.find(*index);
  if (at < 0) {
    for (std::int64_t k = 0; k < n; ++k) out[k * out_step] = T(0);
  } else if (out_step == 1 && table_step == 1) {
    std::memcpy(static_cast<void*>(out), static_cast<void const*>(table + at), static_cast<std::size_t>(n) * sizeof(T));
  } else {
    for (std::int64_t k = 0; k < n; ++k) out[k * out_step] = table[at + k * table_step];
  }
}

/// Processors cannot predict the next row, so the first cache lines of the row this many rows ahead are prefetched.
inline constexpr std::int64_t rows_ahead = 2;

template <class T, class Index>
void prefetch_row(index_window const& window, std::int64_t n, T const* table, Index const* index) {
  constexpr std::int64_t line = 64, most = 1024;
  std::int64_t const at = window.find(*index);
  if (at < 0) return;
  std::int64_t const bytes = n * static_cast<std::int64_t>(sizeof(T));
  char const* const row = reinterpret_cast<char const*>(table + at);
  for (std::int64_t b = 0; b < bytes && b < most; b += line) __builtin_prefetch(row + b);
}

}  // namespace detail

/// out[…] = table[index[…], …]. The loops are those of the result, with the strides of out, of the table (0 along the
/// index's own labels) and of the index. On the host, it returns when `out` is written.
template <class Exec, class T, class Index>
void look_up(Exec const& exec, loop_nest<3> loops, index_window const& window, T* out, T const* table,
             Index const* index) {
  std::int64_t const elements = loops.size();
  if (elements == 0) return;
  loops.merge();
  if constexpr (runs_on_host<Exec>) {
    if (loops.rank == 0) return detail::look_up_run(window, 1, out, 1, table, 1, index, 0);
    int const inner = loops.rank - 1;
    loop_nest<3> const outer = loops.without(inner);
    std::int64_t const n = loops.extent[inner];
    auto const run = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      std::int64_t const ahead = detail::rows_ahead;
      bool const long_rows = loops.stride[2][inner] == 0 && n * static_cast<std::int64_t>(sizeof(T)) >= 512;
      loop_walker<3> next(outer, begin + ahead < end ? begin + ahead : begin);
      for (loop_walker<3> at(outer, begin); begin < end; ++begin, at.next()) {
        if (long_rows && begin + ahead < end) {
          detail::prefetch_row(window, n, table + next.offset[1], index + next.offset[2]);
          next.next();
        }
        detail::look_up_run(window, n, out + at.offset[0], loops.stride[0][inner], table + at.offset[1],
                            loops.stride[1][inner], index + at.offset[2], loops.stride[2][inner]);
      }
    };
    std::int64_t const tasks = outer.size();
    std::int64_t const shares = (elements + serial_elements - 1) / serial_elements;
    for_each_share("ostraka take", exec, tasks, shares < tasks ? shares : tasks, elements, run);
  } else {
    for_each_item("ostraka take", exec, elements, elements,
                  detail::look_up_element<T, Index>{loops, window, out, table, index});
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
