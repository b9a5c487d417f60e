// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes each row at its own position, on the device that holds the position. Nothing is sent:
///
///     cache[b, t_b + i, …] <- rows[b, i, …]                       or, in pages,
///     pool[table[b, p / S], p mod S, …] <- rows[b, i, …],  p = t_b + i

#include <cstdint>

#include <ostraka/engine/blocks/index_blocks.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>

namespace ostraka::engine {

/// Rows of `width` consecutive elements, and their destinations. `to`: aligned with the rows, at the first page and
/// slot.
template <class T, class Page, class Position>
struct positions_to_write {
  int rank = 0;  ///< rank of the rows without their last dimension
  std::int64_t extent[max_rank]{};
  std::int64_t width = 0;
  aligned<T const> rows{};
  aligned<T> to{};
  aligned<Position const> positions{};
  aligned<Page const> table{};  ///< null: without pages
  int consecutive = -1;         ///< the dimension along which positions follow each other, if any
  index_window places{};        ///< this device's pages, or its positions
  std::int64_t slots = 1, next_slot = 0, next_entry = 0;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t from = 0, at = 0, of_position = 0, of_table = 0, step = 0;
    for (int d = rank - 1; d >= 0; --d) {
      std::int64_t const i = row % extent[d];
      row /= extent[d];
      from += i * rows.stride[d];
      at += i * to.stride[d];
      of_position += i * positions.stride[d];
      of_table += i * table.stride[d];
      if (d == consecutive) step = i;
    }
    std::int64_t const position = static_cast<std::int64_t>(positions.data[of_position]) + step;
    std::int64_t place = position;
    if (table.data != nullptr) {
      place = static_cast<std::int64_t>(table.data[of_table + position / slots * next_entry]);
      at += position % slots * next_slot;
    }
    std::int64_t const found = places.find(place);
    if (found < 0) return;
    T const* const x = rows.data + from;
    T* const y = to.data + at + found;
    for (std::int64_t e = 0; e < width; ++e) y[e] = x[e];
  }
};

/// Writes the rows. On the host it writes them in order, so that of two rows with the same position the later one
/// remains, and returns when all are written. @pre table and positions are in range
template <class Exec, class T, class Page, class Position>
void write_positions(Exec const& exec, positions_to_write<T, Page, Position> const& w) {
  std::int64_t rows = 1;
  for (int d = 0; d < w.rank; ++d) rows *= w.extent[d];
  if (rows * w.width == 0 || !computes()) return;
  if constexpr (runs_on_host<Exec>)
    for (std::int64_t row = 0; row < rows; ++row) w(row);
  else
    for_each_item("ostraka write positions", exec, rows, rows * w.width, w);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
