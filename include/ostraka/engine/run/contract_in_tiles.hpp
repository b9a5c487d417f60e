// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A local contraction that lets messages in flight progress, since MPI moves them only during its calls. Our
/// own tiled kernel calls MPI itself. A long product by a library, or by several threads, is cut into tiles of the
/// result, and the messages progress between two tiles. With nothing in flight, this is the plain contraction.
/// docs/design/execution.md has the cost and the gain of tiles.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// A label and the number of parts that it is cut into; 1 is no cut.
struct label_cut {
  int label = -1;
  std::int64_t parts = 1;
};

/// Returns the cut of the longest label of a class into parts of at least `shortest` indices.
[[gnu::cold]] inline label_cut cut_of(contraction const& p, label_class which, std::int64_t shortest,
                                      std::int64_t most) {
  label_cut cut;
  for (int l = 0; l < p.labels; ++l)
    if (class_of(p, l) == which && (cut.label < 0 || p.extent[l] > p.extent[cut.label])) cut.label = l;
  if (cut.label >= 0) cut.parts = std::clamp<std::int64_t>(p.extent[cut.label] / shortest, 1, most);
  return cut;
}

/// The tiles of a product: at most 32, cut by one label of each operand or by one batch label. Tiles with fewer rows or
/// columns would be slower, since operands are packed anew for each tile. For 2048 × 2048, tiles of 512 × 256 take 4 %
/// longer than the whole, slabs of 64 rows 60 %.
struct tiles {
  label_cut first;
  label_cut second;

  [[gnu::cold]] explicit tiles(contraction const& p) {
    constexpr std::int64_t shortest_product = std::int64_t{1} << 21;  // multiplications: about 50 microseconds
    std::int64_t all = 1;
    for (int l = 0; l < p.labels; ++l) {
      if (class_of(p, l) == label_class::only_a || class_of(p, l) == label_class::only_b) return;  // summed before
      all *= p.extent[l];
    }
    std::int64_t const most = std::min<std::int64_t>(all / shortest_product, 32);
    if (most < 2) return;
    label_cut const batch = cut_of(p, label_class::batch, 1, most);
    if (batch.parts > 1) {
      first = batch;
      return;
    }
    first = cut_of(p, label_class::m, 256, std::min<std::int64_t>(4, most));
    second = cut_of(p, label_class::n, 128, most / first.parts);
  }

  [[nodiscard]] bool several() const { return first.parts * second.parts > 1; }
};

/// Keeps one part of a label, and adds the offsets of its begin in A, B and C to `at`.
[[gnu::cold]] inline void keep_part(contraction& p, label_cut const& cut, std::int64_t part, std::int64_t (&at)[3]) {
  if (cut.label < 0) return;
  planner::range const kept = planner::block(p.extent[cut.label], part, cut.parts);
  p.extent[cut.label] = kept.size();
  for (operand const o : {operand::a, operand::b, operand::c})
    if (presence_of(p, o)[cut.label]) at[static_cast<int>(o)] += kept.begin * strides_of(p, o)[cut.label];
}

/// Computes each tile with a separate contraction; operations in flight progress between two tiles.
template <class Exec, class T>
[[gnu::cold]] void contract_each(Exec const& exec, contraction const& problem, tiles const& all, T const* a, T const* b,
                                 T* c, update<T> const& how, product_kernels<Exec, T> const& kernels) {
  for (std::int64_t i = 0; i < all.first.parts * all.second.parts; ++i) {
    contraction tile = problem;
    std::int64_t at[3] = {};
    keep_part(tile, all.first, i / all.second.parts, at);
    keep_part(tile, all.second, i % all.second.parts, at);
    plan_ticket of_tile;  // tiles have up to four shapes
    contract(exec, tile, a + at[0], b + at[1], c + at[2], how, of_tile, kernels);
    progress();
  }
}

}  // namespace detail

/// The same as `contract`, but messages in flight progress meanwhile.
template <class Exec, class T>
void contract_in_tiles(Exec const& exec, contraction const& problem, T const* a, T const* b, T* c, update<T> const& how,
                       plan_ticket& ticket, product_kernels<Exec, T> const& kernels = every_product_kernel<Exec, T>()) {
  if (!runs_on_host<Exec> || in_flight::first() == nullptr)
    return contract(exec, problem, a, b, c, how, ticket, kernels);
  detail::tiles const all(problem);
  if (!all.several() || detail::progresses_meanwhile<T>(exec, problem, ticket))
    return contract(exec, problem, a, b, c, how, ticket, kernels);
  detail::contract_each(exec, problem, all, a, b, c, how, kernels);
}

}  // namespace ostraka::engine
