// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Estimates the cost of a product of matrices by a library, with its copies, and by our own tiles, to choose
/// the cheaper. The unit is a multiplication of doubles in a large product of the library, so the constants compare the
/// work of one core.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_tiles.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>

namespace ostraka::engine::detail {

/// Costs in multiplications of doubles, for doubles; floats cost half as much. Fitted on an AMD Zen 5 with AVX-512
/// (bench/contractions algorithms=1).
namespace cost {
inline constexpr double call = 2000;        // a call of the library
inline constexpr double copy = 6000;        // the start of a copy
inline constexpr double piece = 200;        // a run of a copy, or a tile of a transposing copy
inline constexpr double copied = 2.6;       // a copied element; twice as much if no cache holds the operand
inline constexpr double own_call = 24000;   // preparing the loops for our tiles
inline constexpr double own_tile = 2000;    // writing a register tile, and a product of the batch
inline constexpr double packed = 10;        // an element of A or B packed for our tiles, or of C written by them
inline constexpr double lost_line = 40;     // an element whose access uses a whole cache line

/// The approximate size of a core's second cache in bytes.
inline constexpr double cached = 1 << 20;
}  // namespace cost

/// The ratios of an element type to double, of bytes to move and of multiplications to do.
template <class T>
inline constexpr double size_factor = static_cast<double>(sizeof(T)) / 8;
template <class T>
inline constexpr double work_factor = size_factor<T>;
template <class R>
inline constexpr double work_factor<Kokkos::complex<R>> = 4 * size_factor<R>;

inline double real(std::int64_t x) { return static_cast<double>(x); }

/// Returns the cost of products of the library.
template <class T>
double cost_of_products(double products, double m, double n, double k) {
  return products * (cost::call + work_factor<T> * m * n * k);
}

/// Returns the cost of copying an operand from one layout to another: its elements, and the runs or tiles in which they
/// are moved. If different elements are contiguous in the copy, vectors are transposed, and partly filled vectors take
/// as long as full ones.
template <class T>
[[gnu::cold]] double cost_of_copy(strided const& to, strided const& from) {
  constexpr std::int64_t lanes = elements_of_line<T>;
  loop_nest<2> const loops = loops_over(to, from);
  int const one = smallest_step(loops, 0), other = smallest_step(loops, 1);
  if (one < 0 || other < 0) return cost::copy + cost::copied * size_factor<T> * real(loops.size());
  auto const padded = [&](int d) { return real((loops.extent[d] + lanes - 1) / lanes * lanes); };
  double const elements = real(loops.size()), bytes = elements * static_cast<double>(sizeof(T)),
               length = real(loops.extent[one]), width = one == other ? 1 : real(loops.extent[other]),
               filling = one == other ? 1 : padded(one) * padded(other) / (length * width);
  return cost::copy + cost::piece * elements / (length * width) +
         cost::copied * size_factor<T> * elements * filling * (bytes > cost::cached ? 2 : 1);
}

/// Returns the cost of a plan for the library.
template <class T>
[[gnu::cold]] double cost_of_plan(contraction const& problem, contraction_plan const& plan) {
  matrix_product const& p = plan.product;
  double sum = cost_of_products<T>(real(plan.products() * plan.summed.size()), real(p.m), real(p.n), real(p.k));
  for (operand const which : {operand::a, operand::b, operand::c}) {
    if (!plan.copied[static_cast<int>(which)]) continue;
    sum += cost_of_copy<T>(block_of(plan.problem, which), block_of(problem, which));
  }
  return sum;
}

/// True if each access to an operand uses a whole cache line: because the batch is innermost in memory, or because its
/// lines are whole pages apart along both of its sides and evict one another from the caches.
template <class T>
[[gnu::cold]] bool loses_lines(product_loops const& loops, loop_nest<2> const& side, int operand) {
  for (int d = 0; d < loops.batch.rank; ++d)
    if (loops.batch.stride[operand][d] == 1 && loops.batch.extent[d] >= 4) return true;
  constexpr std::int64_t page = sizeof(T) < 4096 ? 4096 / static_cast<std::int64_t>(sizeof(T)) : 1;
  auto const far = [](std::int64_t step) { return step != 0 && step % page == 0; };
  return operand < 2 && side.rank > 0 && loops.k.rank > 0 && far(side.stride[0][side.rank - 1]) &&
         far(loops.k.stride[operand][loops.k.rank - 1]);
}

/// Returns the cost of our tiles. @pre worth_tiles(loops)
template <class T>
[[gnu::cold]] double cost_of_tiles(product_loops const& loops) {
  micro_kernel<T> const micro = choose_micro_kernel<T>();
  tile_sides const sides(loops, micro.rows, micro.lanes);
  auto const pieces = [](std::int64_t n, std::int64_t of) { return real((n + of - 1) / of); };
  double const batch = real(loops.batch.size()), m = real(sides.m.size()), n = real(sides.n.size()),
               k = real(loops.k.size());
  double const padded = tile_sides::padded(sides.m.size(), sides.n.size(), micro.rows, micro.lanes);
  double const k_blocks = pieces(loops.k.size(), contract_tiles<T>::depth),
               n_blocks = pieces(sides.n.size(), contract_tiles<T>::columns),
               tiles = padded / real(micro.rows * micro.columns());
  int const a = sides.swapped ? 1 : 0, b = 1 - a;
  auto const each = [&](loop_nest<2> const& side, int operand) {
    return size_factor<T> * (loses_lines<T>(loops, side, operand) ? cost::lost_line : cost::packed);
  };
  bool const a_stays = sides.m.size() > 1 && loops.k.rank == 1 && rows_stay(loops.k.stride[a][0]);
  double sum = cost::own_call + batch * cost::own_tile * (n_blocks + k_blocks * tiles) +
               work_factor<T> * micro.slowness * batch * padded * k;
  if (!a_stays) sum += batch * m * k * n_blocks * each(sides.m, a);
  return sum + batch * k * n * each(sides.n, b) + batch * m * n * k_blocks * each(sides.n, 2);
}

}  // namespace ostraka::engine::detail
