// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[o] <- alpha (sum over r of A[o, r] B[o, r]) + beta C[o] on the host where B lies transposed to A: C = sum
/// over i, j of A[i, j] B[j, i]. Tiles of the loop that is contiguous in A, "along", and of the one that is contiguous
/// in B, "across": B's tile is transposed in the first cache, so that both are read in whole lines. Either loop may be
/// summed or not.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

template <class T>
struct fold_tiles {
  static constexpr std::int64_t longest[2] = {256, 32};  // of a tile: several lines of both operands

  /// One of the two loops.
  struct side {
    bool summed = false;
    std::int64_t extent = 1;
    std::int64_t length = 1;  // of a tile
    std::int64_t step[3] = {};  // {a, b, c}
    int loop = -1;  // over its tiles: of `inner` if it is summed, of `outer` if not; -1 where there is one tile

    template <int Operands>
    void add_tiles_to(loop_nest<Operands>& loops) {
      std::int64_t steps[Operands];
      for (int o = 0; o < Operands; ++o) steps[o] = step[o];
      detail::add_tiles(loops, loop, (extent + length - 1) / length, length, steps);
    }

    /// Elements of the tile where the loops are.
    std::int64_t left(loop_walker<3> const& of_outer, loop_walker<2> const& of_inner) const {
      std::int64_t const index = loop < 0 ? 0 : summed ? of_inner.index[loop] : of_outer.index[loop];
      return std::min(length, extent - index * length);
    }
  };

  T const* a;
  T const* b;
  T* c;
  update<T> how;
  loop_nest<3> outer;  // what is not summed: other loops, and over tiles. Offsets {a, b, c}
  loop_nest<2> inner;  // what is. {a, b}
  side along, across;
  std::int64_t parts = 1;  // into which the sum is cut; their results lie part_step apart in c
  std::int64_t part_step = 0;

  std::int64_t items() const { return outer.size() * parts; }

  void operator()(std::int64_t item) const {
    std::int64_t const part = item / outer.size(), end = (part + 1) * inner.size() / parts,
                       pitch = along.summed && !across.summed ? 1 : longest[0];
    loop_walker<3> const of_outer(outer, item % outer.size());
    loop_walker<2> of_inner(inner, part * inner.size() / parts);
    alignas(64) T sums[longest[0] * longest[1]];
    std::fill_n(sums, across.summed ? pitch : longest[1] * pitch, T(0));
    for (std::int64_t i = part * inner.size() / parts; i < end; ++i, of_inner.next()) {
      std::int64_t const at[2] = {of_outer.offset[0] + of_inner.offset[0], of_outer.offset[1] + of_inner.offset[1]};
      std::int64_t const rows = across.left(of_outer, of_inner), length = along.left(of_outer, of_inner);
      add_tile(sums, at, length, rows);
    }
    T* const to = c + part * part_step + of_outer.offset[2];
    std::int64_t const length = along.summed ? 1 : along.left(of_outer, of_inner),
                       rows = across.summed ? 1 : across.left(of_outer, of_inner);
    if (along.summed && across.summed)
      for (std::int64_t i = 1; i < pitch; ++i) sums[0] += sums[i];
    if (along.summed) return how.write(to, across.step[2], sums, rows);
    for (std::int64_t row = 0; row < rows; ++row)
      how.write(to + row * across.step[2], along.step[2], sums + row * pitch, length);
  }

  /// Sums lie a row of the tile after the other: one row for all if `across` is summed, and otherwise one number each
  /// if `along` is.
  void add_tile(T* sums, std::int64_t const (&at)[2], std::int64_t length, std::int64_t rows) const {
    constexpr std::int64_t pitch = longest[0];
    tile_buffer<T, longest[0] * longest[1]> buffer;
    T* const transposed = buffer.data();
    transpose(transposed, pitch, b + at[1], along.step[1], length, rows, rows);
    sum_of_products<T> const products{a + at[0], transposed};
    std::int64_t const of_along[2] = {along.step[0], 1}, of_across[2] = {across.step[0], pitch};
    if (across.summed) return products.across(sums, {0, 0}, of_along, length, of_across, rows);
    if (along.summed) return products.along(sums, {0, 0}, of_across, rows, of_along, length);
    for (std::int64_t row = 0; row < rows; ++row)
      products.across(sums + row * pitch, {row * of_across[0], row * pitch}, of_along, length, of_across, 1);
  }
};

/// The loop in which an operand is contiguous: a number among the outputs, or behind them among what is summed; -1 if
/// there is none as long as a vector.
inline int contiguous_loop(loop_nest<3> const& outputs, loop_nest<2> const& reduced, int operand) {
  for (int d = 0; d < outputs.rank; ++d)
    if (outputs.stride[operand][d] == 1 && outputs.extent[d] >= 8) return d;
  for (int d = 0; d < reduced.rank; ++d)
    if (reduced.stride[operand][d] == 1 && reduced.extent[d] >= 8) return outputs.rank + d;
  return -1;
}

/// @pre outputs and reduced are in the order of a, contiguous loops joined. False if b does not lie transposed to a
template <class T>
bool arrange_transposed(fold_tiles<T>& tiles, loop_nest<3> const& outputs, loop_nest<2> const& reduced) {
  int const of_side[2] = {contiguous_loop(outputs, reduced, 0), contiguous_loop(outputs, reduced, 1)};
  if (of_side[0] < 0 || of_side[1] < 0 || of_side[0] == of_side[1]) return false;
  typename fold_tiles<T>::side* sides[2] = {&tiles.along, &tiles.across};
  for (int s = 0; s < 2; ++s) {
    int const d = of_side[s], r = d - outputs.rank;
    sides[s]->summed = r >= 0;
    sides[s]->extent = r >= 0 ? reduced.extent[r] : outputs.extent[d];
    sides[s]->length = std::min(fold_tiles<T>::longest[s], sides[s]->extent);
    for (int o = 0; o < 3; ++o) sides[s]->step[o] = r < 0 ? outputs.stride[o][d] : o < 2 ? reduced.stride[o][r] : 0;
  }
  if (tiles.along.step[1] == 0 || tiles.across.step[0] == 0) return false;
  for (int d = 0; d < outputs.rank; ++d)
    if (d != of_side[0] && d != of_side[1])
      tiles.outer.add(outputs.extent[d], outputs.stride[0][d], outputs.stride[1][d], outputs.stride[2][d]);
  for (int r = 0; r < reduced.rank; ++r)
    if (outputs.rank + r != of_side[0] && outputs.rank + r != of_side[1])
      tiles.inner.add(reduced.extent[r], reduced.stride[0][r], reduced.stride[1][r]);
  for (auto* const one : sides) one->summed ? one->add_tiles_to(tiles.inner) : one->add_tiles_to(tiles.outer);
  return true;
}

/// Does so if b lies transposed to a. @pre a is at least as large as b and the outputs; no extent is 0
template <class Exec, class T>
bool fold_transposed(Exec const& exec, loop_nest<3> outputs, loop_nest<2> reduced, T const* a, T const* b, T* c,
                     update<T> const& how) {
  outputs.order_by(0);
  outputs.merge();
  reduced.order_by(0);
  reduced.merge();
  fold_tiles<T> tiles{a, b, c, how, {}, {}, {}, {}};
  if (!arrange_transposed(tiles, outputs, reduced)) return false;
  std::int64_t const results = outputs.size(), elements = results * reduced.size(), items = tiles.items();
  std::int64_t const parts = parts_of_fold<Exec>(items, elements / items, tiles.inner.size());
  if (parts == 1) {
    for_each_item("ostraka fold transposed", exec, items, elements, tiles);
    return true;
  }
  loop_nest<2> of_parts;  // the parts' results are gapless, in the order of the loops
  std::int64_t step = results;
  for (int d = 0; d < outputs.rank; ++d) {
    step /= outputs.extent[d];
    of_parts.add(outputs.extent[d], step, outputs.stride[2][d]);
    outputs.stride[2][d] = step;
  }
  kernel_scratch<T, typename Exec::memory_space> const partial(parts * results);
  tiles = fold_tiles<T>{a, b, partial.data(), {}, {}, {}, {}, {}, parts, results};
  arrange_transposed(tiles, outputs, reduced);
  for_each_item("ostraka fold of parts", exec, tiles.items(), elements, tiles);
  loop_nest<1> over_parts;
  over_parts.add(parts, results);
  run_fold(exec, reduction_of<T>{partial.data(), reduction::sum, T(0)}, of_parts, over_parts, c, how);
  return true;
}

}  // namespace ostraka::engine::detail
