// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a product of matrices costs in a library, with copies around it, and by our own tiles: an estimate by
/// which one of them is chosen. The unit is a multiplication of doubles in a large product of the library, so that the
/// constants compare things that one core does.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_tiles.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>

namespace ostraka::engine::detail {

/// In multiplications of doubles; elements count as doubles, half as much where they are floats. Fitted on an AMD Zen 5
/// with AVX-512 (bench/contractions algorithms=1).
namespace cost {
inline constexpr double call = 1000;        // of the library
inline constexpr double copy = 1600;        // to begin one
inline constexpr double copied = 2.6;       // an element, and as much again where no cache holds the operand
inline constexpr double own_call = 12000;   // what is found out about the loops before our tiles begin
inline constexpr double own_tile = 1000;    // a register tile brought into its place, and a product of the batch
inline constexpr double packed = 10;        // an element of A or B for our tiles, or of C written by them
inline constexpr double lost_line = 40;     // one that is alone in its cache line whenever it is met

/// What a core's second cache holds, in bytes, roughly.
inline constexpr double cached = 1 << 20;
}  // namespace cost

/// How an element type relates to double: bytes to move, multiplications to do.
template <class T>
inline constexpr double size_factor = static_cast<double>(sizeof(T)) / 8;
template <class T>
inline constexpr double work_factor = size_factor<T>;
template <class R>
inline constexpr double work_factor<Kokkos::complex<R>> = 4 * size_factor<R>;

inline double real(std::int64_t x) { return static_cast<double>(x); }

/// So many products of the library.
template <class T>
double cost_of_products(double products, double m, double n, double k) {
  return products * (cost::call + work_factor<T> * m * n * k);
}

/// Elements moved for one of an operand that is copied: where others come to lie side by side, tiles of vectors are
/// transposed, and unfilled ones take as long.
template <class T>
double filling_of_tiles(contraction const& from, contraction const& to, operand which) {
  constexpr std::int64_t lanes = sizeof(T) < 64 ? 64 / static_cast<std::int64_t>(sizeof(T)) : 1;
  auto const innermost = [&](contraction const& p) {
    int found = -1;
    for (int l = 0; l < p.labels; ++l)
      if (presence_of(p, which)[l] && p.extent[l] > 1 &&
          (found < 0 || strides_of(p, which)[l] < strides_of(p, which)[found]))
        found = l;
    return found;
  };
  int const one = innermost(from), other = innermost(to);
  if (one == other) return 1;
  auto const padded = [](std::int64_t extent) { return real((extent + lanes - 1) / lanes * lanes) / real(extent); };
  return padded(from.extent[one]) * padded(from.extent[other]);
}

/// Of a plan for the library.
template <class T>
double cost_of_plan(contraction const& problem, contraction_plan const& plan) {
  matrix_product const& p = plan.product;
  double sum = cost_of_products<T>(real(plan.products() * plan.summed.size()), real(p.m), real(p.n), real(p.k));
  for (operand const which : {operand::a, operand::b, operand::c}) {
    if (!plan.copied[static_cast<int>(which)]) continue;
    double const elements = real(block_of(problem, which).size());
    double const from_memory = elements * static_cast<double>(sizeof(T)) > cost::cached ? 2 : 1;
    sum += cost::copy + cost::copied * size_factor<T> * elements * from_memory *
                            filling_of_tiles<T>(problem, plan.problem, which);
  }
  return sum;
}

/// Are the elements of an operand alone in their cache lines, because the batch lies innermost, or because its lines
/// are whole pages apart along both of its sides and take one another's place in the caches?
template <class T>
bool loses_lines(product_loops const& loops, loop_nest<2> const& side, int operand) {
  for (int d = 0; d < loops.batch.rank; ++d)
    if (loops.batch.stride[operand][d] == 1 && loops.batch.extent[d] >= 4) return true;
  constexpr std::int64_t page = sizeof(T) < 4096 ? 4096 / static_cast<std::int64_t>(sizeof(T)) : 1;
  auto const far = [](std::int64_t step) { return step != 0 && step % page == 0; };
  return operand < 2 && side.rank > 0 && loops.k.rank > 0 && far(side.stride[0][side.rank - 1]) &&
         far(loops.k.stride[operand][loops.k.rank - 1]);
}

/// Of our tiles. @pre worth_tiles(loops)
template <class T>
double cost_of_tiles(product_loops const& loops) {
  micro_kernel<T> const micro = choose_micro_kernel<T>();
  tile_sides const sides(loops, micro.few_rows, micro.lanes);
  auto const pieces = [](std::int64_t n, std::int64_t of) { return real((n + of - 1) / of); };
  double const batch = real(loops.batch.size()), m = real(sides.m.size()), n = real(sides.n.size()),
               k = real(loops.k.size());
  double const padded = tile_sides::padded(sides.m.size(), sides.n.size(), micro.few_rows, micro.lanes);
  double const k_blocks = pieces(loops.k.size(), contract_tiles<T>::depth),
               n_blocks = pieces(sides.n.size(), contract_tiles<T>::columns),
               tiles = padded / real(micro.rows * micro.columns());
  int const a = sides.swapped ? 1 : 0, b = 1 - a;
  auto const each = [&](loop_nest<2> const& side, int operand) {
    return size_factor<T> * (loses_lines<T>(loops, side, operand) ? cost::lost_line : cost::packed);
  };
  auto const k_step = [&](int operand) { return loops.k.rank == 1 ? loops.k.stride[operand][0] : 0; };
  bool const side_by_side = sides.n.rank == 0 || (sides.n.stride[0][sides.n.rank - 1] == 1 &&
                                                  sides.n.extent[sides.n.rank - 1] >= micro.lanes);
  std::int64_t const deepest = std::min<std::int64_t>(loops.k.size(), contract_tiles<T>::depth);
  bool const a_stays = sides.m.size() > 1 && rows_stay(k_step(a)),
             b_stays = side_by_side && columns_stay<T>(sides.m.size(), k_step(b), deepest);
  double sum = cost::own_call + batch * cost::own_tile * (n_blocks + k_blocks * tiles) +
               work_factor<T> * micro.slowness * batch * padded * k;
  if (!a_stays) sum += batch * m * k * n_blocks * each(sides.m, a);
  if (!b_stays) sum += batch * k * n * each(sides.n, b);
  return sum + batch * m * n * k_blocks * each(sides.n, 2);
}

}  // namespace ostraka::engine::detail
