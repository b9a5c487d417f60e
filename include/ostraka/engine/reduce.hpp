// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduces one block over some of its labels: C[I] = sum (or max, min) over J of A[I, J]. Long reductions with few results are cut into parts
/// whose number depends on the extents alone, so that the result does not depend on the number of threads.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/contraction_labels.hpp>
#include <ostraka/engine/copy.hpp>
#include <ostraka/engine/parallel.hpp>
#include <ostraka/engine/reduce_kernel.hpp>
#include <ostraka/engine/workspace.hpp>

namespace ostraka::engine {

namespace detail {

/// The loops of a reduction. Offsets: outputs {a, c}, reduced {a}.
struct reduction_loops {
  loop_nest<2> outputs;
  loop_nest<1> reduced;

  /// In the order of memory, contiguous loops joined.
  reduction_loops ordered() const {
    reduction_loops loops = *this;
    loops.outputs.order_by(1);
    loops.outputs.merge();
    loops.reduced.order_by(0);
    loops.reduced.merge();
    return loops;
  }
};

/// Into how many parts a sum of this length is cut when there are so many results.
template <class Exec>
std::int64_t parts_of_sum(std::int64_t results, std::int64_t length) {
  constexpr std::int64_t enough_items = runs_on_host<Exec> ? 64 : 65536;
  constexpr std::int64_t shortest_part = runs_on_host<Exec> ? 16384 : 256;
  std::int64_t const items = runs_on_host<Exec> ? (results + 63) / 64 : results;
  if (items >= enough_items) return 1;
  std::int64_t const work = runs_on_host<Exec> ? length * std::min<std::int64_t>(results, 64) : length;
  return std::max<std::int64_t>(1, std::min({enough_items / items, work / shortest_part, length}));
}

template <class T>
reduce_rows<T> rows_of(reduction_loops const& loops, reduction_operands<T> const& in) {
  int const inner = loops.outputs.rank - 1;
  reduce_rows<T> rows{in, loops.outputs, 1, {0, 0}};
  if (inner >= 0) {
    rows.outer = loops.outputs.without(inner);
    rows.length = loops.outputs.extent[inner];
    for (int o = 0; o < 2; ++o) rows.step[o] = loops.outputs.stride[o][inner];
  }
  return rows;
}

template <class Exec, class T>
void start_reduction(Exec const& exec, reduction_loops const& loops, reduction_operands<T> const& in) {
  std::int64_t const elements = loops.outputs.size() * loops.reduced.size();
  if constexpr (runs_on_host<Exec>) {
    reduce_rows<T> const rows = rows_of(loops, in);
    for_each_item("ostraka reduce rows", exec, in.parts * rows.outer.size() * rows.rows(), elements, rows);
  } else {
    reduce_elements<T> const kernel{in, loops.outputs};
    for_each_item("ostraka reduce elements", exec, in.parts * loops.outputs.size(), elements, kernel);
  }
}

/// @pre the loops are ordered
template <class Exec, class T>
void run_reduction(Exec const& exec, reduction_loops const& loops, T const* a, T* c, reduction how, update<T> const& into) {
  std::int64_t const results = loops.outputs.size();
  std::int64_t const parts = parts_of_sum<Exec>(results, loops.reduced.size());
  T const start = identity<T>(how);
  if (parts == 1) {
    start_reduction(exec, loops, reduction_operands<T>{a, c, how, start, 1, 0, loops.reduced, into});
    return;
  }
  reduction_loops into_parts = loops;  // the same outputs, gapless in the order of the loops
  reduction_loops from_parts;
  std::int64_t step = results;
  for (int d = 0; d < loops.outputs.rank; ++d) {
    step /= loops.outputs.extent[d];
    into_parts.outputs.stride[1][d] = step;
    from_parts.outputs.add(loops.outputs.extent[d], step, loops.outputs.stride[1][d]);
  }
  from_parts.reduced.add(parts, results);
  scratch<T, typename Exec::memory_space> const partial(parts * results);
  start_reduction(exec, into_parts, reduction_operands<T>{a, partial.data(), how, start, parts, results, loops.reduced, {}});
  start_reduction(exec, from_parts, reduction_operands<T>{partial.data(), c, how, start, 1, 0, from_parts.reduced, into});
}

}  // namespace detail

/// c <- alpha · (reduction of a over its labels that c lacks) + beta · c; the identity is what nothing reduces to. Labels of c alone repeat the result;
/// b is not looked at. @pre alpha = 1 and beta = 0 unless the reduction is a sum
template <class Exec, class T>
void reduce(Exec const& exec, contraction const& p, T const* a, T* c, reduction how, update<T> const& into = {}) {
  require_reducible<T>(how);
  detail::reduction_loops loops;
  for (int l = 0; l < p.labels; ++l) {
    if (p.in_c[l]) loops.outputs.add(p.extent[l], p.in_a[l] ? p.a[l] : 0, p.c[l]);
    else if (p.in_a[l]) loops.reduced.add(p.extent[l], p.a[l]);
  }
  if (loops.outputs.size() == 0) return;
  if (loops.reduced.size() == 0 || into.alpha == T(0)) {
    strided const block = block_of(p, operand::c);
    into.overwrites() ? fill(exec, c, block, identity<T>(how)) : scale(exec, c, block, into.beta);
    return;
  }
  detail::run_reduction(exec, loops.ordered(), a, c, how, into);
}

}  // namespace ostraka::engine
