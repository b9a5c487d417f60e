// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a contraction costs in our own kernels: lanes where it is a batch that lies innermost, tiles where it
/// is a product of matrices, a fold where a block meets a vector.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_tiles.hpp>
#include <ostraka/engine/kernels/portable/tile_operand.hpp>
#include <ostraka/engine/kernels/products/product_cost.hpp>
#include <ostraka/engine/kernels/x86/contract_batch.hpp>
#include <ostraka/engine/kernels/x86/panel_vectors.hpp>

namespace ostraka::engine::detail {

/// How many iterations of a side lie side by side in an operand.
inline std::int64_t run_of(loop_nest<2> const& side, int operand) {
  if (side.rank == 0) return 1;
  return side.stride[operand][side.rank - 1] == 1 ? side.extent[side.rank - 1] : 1;
}

/// The longest run in an operand of any loop of a nest.
inline std::int64_t longest_run(loop_nest<2> const& loops, int operand) {
  for (int d = 0; d < loops.rank; ++d)
    if (loops.stride[operand][d] == 1) return loops.extent[d];
  return 1;
}

/// Does an operand take steps of whole pages along this side's innermost loop and along the sum? The lines of a panel
/// then take one another's place in the caches, and none is there any more when its next element is packed.
template <class T>
bool lines_meet(loop_nest<2> const& side, loop_nest<2> const& k, int operand) {
  constexpr std::int64_t page =
      4096 / static_cast<std::int64_t>(sizeof(T)) > 0 ? 4096 / static_cast<std::int64_t>(sizeof(T)) : 1;
  if (side.rank == 0 || k.rank == 0) return false;
  std::int64_t const along = side.stride[0][side.rank - 1], deep = k.stride[operand][k.rank - 1];
  return along != 0 && deep != 0 && along % page == 0 && deep % page == 0;
}

template <class T>
void count_tiles(cost_counts& counts, product_loops const& loops) {
  micro_kernel<T> const micro = choose_micro_kernel<T>();
  tile_sides const sides(loops, micro.few_rows, micro.lanes);
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  double const batch = real(loops.batch.size()), m = real(sides.m.size()), n = real(sides.n.size()),
               k = real(loops.k.size());
  double const padded = tile_sides::padded(sides.m.size(), sides.n.size(), micro.few_rows, micro.lanes);
  double const n_blocks = real(tile_blocks(sides.n.size(), contract_tiles<T>::columns, micro.columns()).count);
  double const k_blocks = real((loops.k.size() + contract_tiles<T>::depth - 1) / contract_tiles<T>::depth);
  counts.add(cost::our_task, batch * n_blocks);
  counts.add(cost::our_tile, batch * k_blocks * padded / real(micro.rows * micro.columns()));
  counts.add(cost::our_multiply_add, work_factor<T> * batch * padded * k);
  auto const packed = [&](loop_nest<2> const& side, int operand, double elements, double times, bool lies) {
    bool const in_runs = run_of(side, 0) >= 4 || (longest_run(loops.k, operand) >= 4 && run_of(loops.k, operand) >= 4);
    double const without_gathers = choose_packing<T>().gathered ? 1 : 2.5;
    if (!lies && in_runs) counts.add(cost::our_packed, size_factor<T> * elements * times);
    if (!lies && !in_runs) counts.add(cost::our_packed_alone, without_gathers * size_factor<T> * elements * times);
    if (!lies && !in_runs && lines_meet<T>(side, loops.k, operand) &&
        elements * static_cast<double>(sizeof(T)) > near_bytes)
      counts.add(cost::far_line, 8 * elements * times);
    count_stream<T>(counts, elements * times, elements, false);
  };
  auto const of_batch = [&](int operand) {
    for (int d = 0; d < loops.batch.rank; ++d)
      if (loops.batch.stride[operand][d] == 1 && loops.batch.extent[d] >= 4) return true;
    return false;
  };
  if (of_batch(0)) counts.add(cost::our_lost_line, batch * real(loops.m.size()) * k);
  if (of_batch(1)) counts.add(cost::our_lost_line, batch * k * real(loops.n.size()));
  if (of_batch(2)) counts.add(cost::our_lost_line, batch * m * n * k_blocks);
  int const a = sides.swapped ? 1 : 0, b = 1 - a;
  auto const k_step = [&](int operand) { return loops.k.rank == 1 ? loops.k.stride[operand][0] : 0; };
  std::int64_t const deepest = std::min<std::int64_t>(loops.k.size(), contract_tiles<T>::depth);
  packed(sides.m, a, batch * m * k, n_blocks, sides.m.size() > 1 && rows_stay(k_step(a)));
  packed(sides.n, b, batch * k * n, 1,
         run_of(sides.n, 0) >= micro.lanes && columns_stay<T>(sides.m.size(), k_step(b), deepest));
  counts.add(run_of(sides.n, 1) >= 3 ? cost::our_result : cost::our_result_alone,
             size_factor<T> * batch * m * n * k_blocks);
  count_stream<T>(counts, 2 * batch * m * n * k_blocks, batch * m * n, false);
}

template <class T>
void count_lanes(cost_counts& counts, product_loops const& loops) {
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  double const batch = real(loops.batch.size()), m = real(loops.m.size()), n = real(loops.n.size()),
               k = real(loops.k.size());
  counts.add(cost::our_lane, work_factor<T> * batch * m * n * k);
  for (double const elements : {batch * m * k, batch * k * n, batch * m * n}) {
    counts.add(cost::our_lane_element, size_factor<T> * elements);
    count_stream<T>(counts, elements, elements, false);
  }
}

/// The whole contraction by our own kernels.
template <class T>
cost_counts counts_of_our_kernels(product_loops const& loops) {
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  cost_counts counts;
  counts.add(cost::our_call, 1);
  if (worth_lanes<T>(loops)) {
    count_lanes<T>(counts, loops);
    return counts;
  }
  if (worth_tiles(loops)) {
    count_tiles<T>(counts, loops);
    return counts;
  }
  double const batch = real(loops.batch.size()), m = real(loops.m.size()), n = real(loops.n.size()),
               k = real(loops.k.size());
  counts.add(cost::our_folded, work_factor<T> * batch * m * n * k);
  count_stream<T>(counts, batch * std::max(m, n) * k, batch * std::max(m, n) * k, std::min(m, n) == 1);
  return counts;
}

}  // namespace ostraka::engine::detail
