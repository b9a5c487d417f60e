// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Cuts the loops of a host kernel into items for threads. An item has enough work that finding its place in
/// the loops costs little, and not so much that there are too few items. The cut depends only on the extents.

#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>

namespace ostraka::engine {

/// Consecutive units (runs, tiles, rows). An item takes `together` of them, or a `piece` of a single long one.
struct item_cut {
  /// The number of elements that is worth an item.
  static constexpr std::int64_t worth_an_item = 8192;

  std::int64_t units = 0;
  std::int64_t together = 1;
  std::int64_t length = 1;  // the length of a unit that can be cut
  std::int64_t piece = 1;

  /// Cuts units that stay whole.
  static item_cut of_units(std::int64_t units, std::int64_t elements_of_unit) {
    std::int64_t const together = elements_of_unit >= worth_an_item ? 1 : worth_an_item / elements_of_unit;
    return {units, together < units ? together : units, 1, 1};
  }

  /// Cuts runs, and long runs into pieces; `work` is the work for each element.
  static item_cut of_runs(std::int64_t runs, std::int64_t length, std::int64_t piece = worth_an_item,
                          std::int64_t work = 1) {
    if (length > piece) return {runs, 1, length, piece};
    item_cut cut = of_units(runs, length * work);
    cut.length = cut.piece = length;
    return cut;
  }

  std::int64_t pieces() const { return parts(length, piece); }
  std::int64_t items() const { return parts(units, together) * pieces(); }

  /// The units of an item, if units stay whole.
  std::int64_t begin(std::int64_t item) const { return item * together; }
  std::int64_t end(std::int64_t item) const { return (item + 1) * together < units ? (item + 1) * together : units; }

  /// Calls f(begin of the run in each operand, first element, elements) for the item's runs, or for its piece of one.
  template <int Operands, class F>
  void for_each_piece(std::int64_t item, loop_nest<Operands> const& runs, F const& f) const {
    if (piece < length) {
      std::int64_t at[Operands];
      runs.locate(item / pieces(), at);
      std::int64_t const first = item % pieces() * piece;
      f(at, first, length - first < piece ? length - first : piece);
      return;
    }
    std::int64_t const last = end(item);
    loop_walker<Operands> walker(runs, begin(item));
    for (std::int64_t run = begin(item); run < last; ++run, walker.next()) f(walker.offset, std::int64_t(0), length);
  }

 private:
  // Small blocks have one part, and a division is expensive.
  static std::int64_t parts(std::int64_t of, std::int64_t size) { return of == size ? 1 : (of + size - 1) / size; }
};

}  // namespace ostraka::engine
