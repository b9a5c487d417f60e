// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Softmax and norms of blocks along an axis that mesh axes may divide. One message merges the statistics of
/// the devices' parts of a row, and each device writes its elements.
///
///     [I, V]      one pass over the block
///     [I, V_Y]    statistics of the rows, combined over Y, and a second pass

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/divided_rows/combine_statistics.hpp>
#include <ostraka/engine/kernels/rows/row_kernels.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// Returns this device's block of a tensor as rows along one of its dimensions.
template <class X>
rows_of_block<X> rows_in(execution_context const& w, planner::spec const& s, int along, X const* x) {
  std::int64_t extents[max_rank]{};
  for (int i = 0; i < s.rank; ++i) extents[i] = planner::range_of(s, i, w.here, w.sizes).size();
  return {rows_along(extents, s.rank, along), x, nullptr, {}};
}

/// Returns the positions of the elements of a tensor aligned by these strides, by dimension of the tensor `s`.
inline row_places places_of_rows(execution_context const& w, planner::spec const& s, int along,
                                 std::int64_t const* stride) {
  row_places at;
  at.rank = s.rank;
  at.along = along;
  for (int i = 0; i < s.rank; ++i) {
    at.extent[i] = planner::range_of(s, i, w.here, w.sizes).size();
    at.stride[i] = stride[i];
  }
  return at;
}

/// Returns the rows with a mask.
template <class X, class Mask>
rows_of_block<X, Mask> rows_in(execution_context const& w, planner::spec const& s, int along, X const* x,
                               Mask const* mask, std::int64_t const* stride) {
  return {rows_in(w, s, along, x).rows, x, mask, places_of_rows(w, s, along, stride)};
}

/// out <- the formula of each element of this device's block of `s`, times its gain, plus its bias. `kept`: receives
/// the statistics of whole rows, or null.
template <class Formula, class Exec, class X, class Mask, class Gain, class Bias>
void normalise_rows(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                    rows_of_block<X, Mask> const& in, Formula const& formula, X* out, Gain const* gain,
                    Bias const* bias, typename Formula::statistic* kept = nullptr) {
  using statistic = typename Formula::statistic;
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "reads and writes", 2 * in.rows.size() * static_cast<std::int64_t>(sizeof(X)));
  });
  std::int64_t const total = w.sizes.label[s.label[along]];
  planner::mesh_set const axes = s.over[along].axes();
  if (axes.empty() || w.mesh->absent() || w.group(axes).size() == 1)
    return write_rows<Formula>("ostraka rows", exec, in, formula, total, static_cast<statistic const*>(nullptr), out,
                               gain, bias, kept);
  kernel_scratch<statistic, typename Exec::memory_space> const own(kept == nullptr ? in.rows.count() : 0);
  statistic* const rows = kept == nullptr ? own.data() : kept;
  measure_rows<Formula>("ostraka statistics of rows", exec, in, rows);
  combine_statistics(exec, w, s, along, rows, in.rows.count());
  write_rows<Formula>("ostraka rows", exec, in, formula, total, static_cast<statistic const*>(rows), out, gain, bias);
}

namespace detail {

template <class Finish, class R>
struct finish_row {
  Finish finish;
  R* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const { to[row] = static_cast<R>(finish(row)); }
};

}  // namespace detail

/// to[row] <- finish(row) for the rows of a block.
template <class Exec, class R, class Finish>
void finish_rows(Exec const& exec, std::int64_t count, R* to, Finish const& finish) {
  for_each_item("ostraka finish rows", exec, count, count, detail::finish_row<Finish, R>{finish, to});
  fence_on_host(exec);
}

/// to[row] <- Finish{statistics}(row) for the statistics of whole rows. Collective over the mesh axes that divide
/// dimension `along`.
template <class Formula, class Finish, class Exec, class X, class Mask, class R>
void finish_statistics(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                       rows_of_block<X, Mask> const& in, R* to) {
  profiled const region_of_run(
      w, [&] { push_blocks(w.operation, s, w.names, "reads", in.rows.size() * static_cast<std::int64_t>(sizeof(X))); });
  std::int64_t const count = in.rows.count();
  kernel_scratch<typename Formula::statistic, typename Exec::memory_space> const rows(count);
  measure_rows<Formula>("ostraka statistics of rows", exec, in, rows.data());
  combine_statistics(exec, w, s, along, rows.data(), count);
  finish_rows(exec, count, to, Finish{rows.data()});
}

}  // namespace ostraka::engine
