// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Arranges the loops of a fold on the host so that its largest block streams, and cuts long folds with few
/// results into parts. The number of parts depends only on the extents, so the result does not depend on the number of
/// threads.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/folds/fold_kernel.hpp>
#include <ostraka/engine/kernels/folds/fold_transposed.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// The bytes of a block that a core's second or third cache keeps from one call to the next.
inline constexpr std::int64_t cached_bytes = 2 << 20;

/// The fewest terms of a part of a fold.
template <class Exec>
inline constexpr std::int64_t shortest_part = runs_on_host<Exec> ? 16384 : 256;

/// Returns the number of parts of a fold of this length with `items` items of `terms_of_item` terms each.
template <class Exec>
std::int64_t parts_of_fold(std::int64_t items, std::int64_t terms_of_item, std::int64_t length) {
  constexpr std::int64_t enough_items = runs_on_host<Exec> ? 64 : 65536;
  if (items >= enough_items) return 1;
  return std::max<std::int64_t>(1, std::min({enough_items / items, terms_of_item / shortest_part<Exec>, length}));
}

/// Returns the length of a share, if a row of Ts is cut into `shares` shares of whole cache lines.
template <class T>
std::int64_t share_of_row(std::int64_t row, std::int64_t shares) {
  constexpr std::int64_t line = elements_of_line<T>;
  return (row + shares * line - 1) / (shares * line) * line;
}

/// Returns the length of the pieces into which a row of outputs is cut; each output is a fold of `terms` Es. A block of
/// `elements` Es that the caches hold is cut between its columns, which avoids parts, whose results would be stored and
/// added; but not if the pieces would be short, or have enough terms for two parts. For a block in memory, long rows
/// are faster.
template <class E>
std::int64_t piece_of_row(std::int64_t row, std::int64_t terms, std::int64_t elements, std::int64_t longest) {
  constexpr std::int64_t shortest = 32;
  constexpr std::int64_t worth_a_piece = shortest_part<Kokkos::DefaultHostExecutionSpace>;
  if (elements > cached_bytes / std::int64_t(sizeof(E)) || shortest * terms >= 2 * worth_a_piece) return longest;
  std::int64_t const pieces = std::max<std::int64_t>(1, row * terms / worth_a_piece);
  return std::clamp(share_of_row<E>(row, pieces), shortest, longest);
}

/// Arranges a fold whose outputs are {operands…, c}. T: the type of the results. @pre operand 0 is at least as large as
/// the others
template <class T, class Fold>
fold_shape<Fold::operands> arrange_fold(loop_nest<Fold::operands + 1> const& of_outputs,
                                        loop_nest<Fold::operands> const& of_sum, bool result_is_largest) {
  constexpr int n = Fold::operands;
  using rows_type = fold_rows<T, Fold>;
  fold_shape<n> shape(of_outputs, of_sum);
  loop_nest<n + 1>& outputs = shape.outer;
  loop_nest<n>& reduced = shape.reduced;
  int const lead = result_is_largest ? n : 0;
  std::int64_t const elements = outputs.size() * reduced.size();
  outputs.order_by(lead);
  outputs.merge();
  reduced.order_by(0);
  reduced.merge();
  int const near_output = smallest_step(outputs, lead), near_term = result_is_largest ? -1 : smallest_step(reduced, 0);
  shape.in_rows =
      near_output >= 0 && (near_term < 0 || outputs.stride[lead][near_output] < reduced.stride[0][near_term]);
  int row = near_output >= 0 ? near_output : outputs.rank - 1;
  if constexpr (n == 2)
    if (!result_is_largest) match_transposed(outputs, row, reduced, shape.in_rows);
  if (row >= 0) {
    shape.length = outputs.extent[row];
    for (int o = 0; o <= n; ++o) shape.step[o] = outputs.stride[o][row];
    outputs.remove(row);
  }
  shape.transposes = !shape.in_rows && reduced.rank == 1 && reduced.stride[0][0] == 1 &&
                     reduced.extent[0] <= rows_type::short_run && shape.length >= 16;
  std::int64_t const few = std::max<std::int64_t>(shape.is_transposed() ? tile_row<T> : 4,
                                                  item_cut::worth_an_item / reduced.size() / 4 * 4);  // fours
  auto const piece_in_rows = [&] {
    constexpr std::int64_t longest = rows_type::row_width;
    if (result_is_largest) return longest;
    return piece_of_row<typename Fold::element>(shape.length, reduced.size(), elements, longest);
  };
  std::int64_t const piece = shape.transposes     ? 4 * rows_type::transposed_width
                             : shape.in_rows      ? piece_in_rows()
                             : shape.runs_apart() ? rows_type::width
                                                  : few;
  shape.cut = item_cut::of_runs(outputs.size(), shape.length, piece, reduced.size());
  return shape;
}

/// The results of parts, one gapless block for each part, in the order of the outputs' loops, which are changed to
/// write there; and the loops of the fold that combines them. Only the first operand of that fold moves.
template <int Operands>
struct loops_of_parts {
  loop_nest<Operands + 1> outputs;
  loop_nest<Operands> over;

  loops_of_parts(loop_nest<Operands + 1>& of_part, std::int64_t parts) : outputs(of_part.copied()) {
    std::int64_t const results = of_part.size();
    for (int o = 1; o < Operands; ++o)
      for (int d = 0; d < outputs.rank; ++d) outputs.stride[o][d] = 0;
    std::int64_t step = results;
    for (int d = 0; d < outputs.rank; ++d) {
      step /= outputs.extent[d];
      outputs.stride[0][d] = of_part.stride[Operands][d] = step;
    }
    over.rank = 1;
    over.extent[0] = parts;
    for (int o = 0; o < Operands; ++o) over.stride[o][0] = o == 0 ? results : 0;
  }
};

/// The same as run_fold, cut into parts.
template <class Exec, class T, class Fold>
[[gnu::cold, gnu::noinline]] void fold_in_parts(Exec const& exec, Fold const& fold,
                                                loop_nest<Fold::operands + 1>& outputs,
                                                loop_nest<Fold::operands> const& reduced, std::int64_t parts, T* c,
                                                update<T> const& how, bool result_is_largest) {
  using value = typename Fold::value;
  std::int64_t const results = outputs.size();
  outputs.order_by(0);
  loops_of_parts<Fold::operands> const together(outputs, parts);
  kernel_scratch<value, typename Exec::memory_space> const partial(parts * results);
  fold_shape<Fold::operands> const in_parts = arrange_fold<value, Fold>(outputs, reduced, result_is_largest);
  fold_rows<value, Fold> const rows{fold, partial.data(), {}, parts, results, in_parts, in_parts.cut};
  for_each_item("ostraka fold of parts", exec, rows.items(), results * reduced.size(), rows);

  auto const of_parts = fold.of_parts(partial.data());
  using sum_of_parts = std::remove_const_t<decltype(of_parts)>;
  fold_shape<Fold::operands> const shape = arrange_fold<T, sum_of_parts>(together.outputs, together.over, false);
  fold_rows<T, sum_of_parts> const sums{of_parts, c, how, 1, 0, shape, shape.cut};
  for_each_item("ostraka fold", exec, sums.items(), parts * results, sums);
}

/// Returns the number of parts of an arranged fold of `elements` terms.
template <class Exec, class Fold>
std::int64_t parts_of_fold(fold_shape<Fold::operands> const& shape, std::int64_t elements) {
  std::int64_t const items = shape.cut.items(), length = shape.reduced.size();
  std::int64_t const parts = shape.transposes ? 1 : parts_of_fold<Exec>(items, elements / items, length);
  constexpr std::int64_t widening = sizeof(typename Fold::value) / sizeof(typename Fold::element);
  if constexpr (widening > 1)  // their results take an eighth of the block's bytes
    return std::max<std::int64_t>(1, std::min(parts, length / (8 * widening)));
  return parts;
}

/// c <- alpha · fold + beta · c on the host, for an arranged fold.
template <class Exec, class T, class Fold>
void run_arranged(Exec const& exec, Fold const& fold, fold_shape<Fold::operands> const& shape, std::int64_t elements,
                  T* c, update<T> const& how) {
  fold_rows<T, Fold> rows{fold, c, how, 1, 0, shape, shape.cut};
  item_cut& cut = rows.cut;
  // A single thread takes whole rows; several threads share a single row.
  if (elements <= serial_elements || !has_threads(exec))
    cut.piece = cut.length;
  else if (shape.in_rows && cut.units == 1)
    cut.piece = std::max(cut.piece, share_of_row<T>(cut.length, exec.concurrency()));
  for_each_item("ostraka fold", exec, rows.cut.items(), elements, rows);
}

/// c <- alpha · fold + beta · c on the host. Outputs are {operands…, c}. @pre no extent is 0
template <class Exec, class T, class Fold>
void run_fold(Exec const& exec, Fold const& fold, loop_nest<Fold::operands + 1> const& outputs,
              loop_nest<Fold::operands> const& reduced, T* c, update<T> const& how, bool result_is_largest = false) {
  std::int64_t const elements = outputs.size() * reduced.size();
  fold_shape<Fold::operands> const shape = arrange_fold<T, Fold>(outputs, reduced, result_is_largest);
  std::int64_t const parts = parts_of_fold<Exec, Fold>(shape, elements);
  if (parts == 1) return run_arranged(exec, fold, shape, elements, c, how);
  auto of_parts = outputs.copied();
  fold_in_parts(exec, fold, of_parts, reduced, parts, c, how, result_is_largest);
}

}  // namespace ostraka::engine::detail
