// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Computes a function of points, or a stencil, on this device's block in two parts: the points that read no
/// margin in flight, and the rest.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/blocks/aligned.hpp>
#include <ostraka/engine/kernels/stencil_kernel.hpp>
#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// The points of a stencil: the result has every `every[d]`-th point of the block along dimension d. Nothing is written
/// beyond the first `rank` dimensions.
struct stencil_points {
  int rank = 0;
  std::int64_t extent[max_rank];  ///< of the block
  std::int64_t first[max_rank];   ///< the first of the block's indices that the result has
  std::int64_t every[max_rank];
  std::int64_t before[max_rank];  ///< width of the halo before the block's own indices
  std::int64_t behind[max_rank];  ///< width of the halo after them

  [[nodiscard]] std::int64_t points(int d) const {
    if (every[d] == 1) return extent[d] - first[d];  // the most frequent case, and a division is expensive
    return extent[d] > first[d] ? (extent[d] - first[d] + every[d] - 1) / every[d] : 0;
  }
  /// Returns the points of the result that are at least the wider margin away from both ends of the block; perhaps
  /// none. They need no halo, and no neighbour needs them. While a halo in flight sends the other points in place, f
  /// may write these.
  [[nodiscard]] planner::range inner(int d) const {
    std::int64_t const n = points(d), width = std::max(before[d], behind[d]);
    if (every[d] == 1 && first[d] == 0) return {std::min(width, n), std::max(std::min(width, n), n - width)};
    std::int64_t const begin = width > first[d] ? (width - first[d] + every[d] - 1) / every[d] : 0;
    std::int64_t const last = extent[d] - width - first[d];
    std::int64_t const end = last > 0 ? std::min(n, (last + every[d] - 1) / every[d]) : 0;
    return {std::min(begin, n), std::max(std::min(begin, n), end)};
  }
};

/// A box of points: a range of them along each dimension. Nothing is written beyond the first `rank` dimensions.
struct point_box {
  std::int64_t begin[max_rank], end[max_rank];

  void set(int d, planner::range const& r) { begin[d] = r.begin, end[d] = r.end; }
  [[nodiscard]] std::int64_t size(int d) const { return end[d] - begin[d]; }
};

/// Calls `part` with each point_box of a partition of all points except the inner ones along `axes`.
template <class F>
void for_each_boundary(stencil_points const& p, std::uint32_t axes, F const& part) {
  point_box where;
  for (int d = 0; d < p.rank; ++d) where.set(d, {0, p.points(d)});
  for (int d = 0; d < p.rank; ++d) {
    if ((axes >> d & 1u) == 0) continue;
    planner::range const inner = p.inner(d);
    for (planner::range const end : {planner::range{0, inner.begin}, planner::range{inner.end, p.points(d)}}) {
      where.set(d, end);
      if (end.size() > 0) part(static_cast<point_box const&>(where));
    }
    where.set(d, inner);
  }
}

/// Points that are computed between two calls of progress.
inline constexpr std::int64_t points_between_progress = 1 << 16;

/// An operand that is read around each point, or, for Axes = 0, at the point alone: its block, aligned with the
/// dimensions of the points, and the strides to neighbours.
template <class T, int Axes>
struct stencil_operand_block {
  aligned<T> block;
  std::int64_t neighbour[Axes > 0 ? Axes : 1]{};

  [[nodiscard]] std::int64_t step(stencil_points const& p, int d) const { return block.stride[d] * p.every[d]; }
  [[nodiscard]] stencil_source<T, Axes> source_at(stencil_points const& p, point_box const& where) const {
    stencil_source<T, Axes> s{block.data, {}};
    for (int d = 0; d < p.rank; ++d) s.data += (p.first[d] + where.begin[d] * p.every[d]) * block.stride[d];
    for (int k = 0; k < Axes; ++k) s.stride[k] = neighbour[k];
    return s;
  }
};

/// The result of a stencil, which has an element for each point.
template <class R>
struct stencil_result_block {
  aligned<R> block;

  [[nodiscard]] std::int64_t step(stencil_points const&, int d) const { return block.stride[d]; }
  [[nodiscard]] stencil_source<R, 0> source_at(stencil_points const& p, point_box const& where) const {
    stencil_source<R, 0> s{block.data, {}};
    for (int d = 0; d < p.rank; ++d) s.data += where.begin[d] * block.stride[d];
    return s;
  }
};

/// Calls f at the points in `where`. Returns the sum of its values as an S.
template <class S, class Exec, class F, class... Operands>
S points_in(Exec const& exec, stencil_points const& p, point_box const& where, F const& f, Operands const&... from) {
  constexpr int operands = static_cast<int>(sizeof...(Operands));
  if constexpr (runs_on_host<Exec>) {
    std::int64_t extent[max_rank], stride[max_rank][operands], points = 1;
    for (int d = 0; d < p.rank; ++d) points *= extent[d] = where.size(d);
    if (points == 0) return S{};
    if (p.rank > 0 && points <= serial_elements) {
      for (int d = 0; d < p.rank; ++d) {
        int o = 0;
        ((stride[d][o++] = from.step(p, d)), ...);
      }
      return each_point_here<S, F, operands>(p.rank, extent, stride, f, from.source_at(p, where)...);
    }
  }
  loop_nest<operands> loops;
  for (int d = 0; d < p.rank; ++d) loops.add(where.size(d), from.step(p, d)...);
  return each_point<S>(exec, loops, f, from.source_at(p, where)...);
}

/// Computes the points that read no margin along `axes`, whose margins are in flight. Operations in flight progress
/// between slabs of points; after the last one the caller waits for them.
template <class S, class Exec, class F, class... Operands>
S inner_points(Exec const& exec, stencil_points const& p, std::uint32_t axes, F const& f, Operands const&... from) {
  point_box where;
  std::int64_t row = 1;
  for (int d = 0; d < p.rank; ++d) {
    where.set(d, (axes >> d & 1u) != 0 ? p.inner(d) : planner::range{0, p.points(d)});
    row *= d > 0 ? where.size(d) : 1;
  }
  if (axes == 0 || !runs_on_host<Exec> || row == 0) return points_in<S>(exec, p, where, f, from...);
  std::int64_t const first = where.begin[0], last = where.end[0];
  std::int64_t const rows = std::max<std::int64_t>(1, points_between_progress / row);
  S sum{};
  for (std::int64_t begin = first; begin < last; begin += rows) {
    where.set(0, {begin, std::min(last, begin + rows)});
    if (begin > first) progress();
    sum += points_in<S>(exec, p, where, f, from...);
  }
  return sum;
}

/// Calls f at all points: first at the points that read no margin along `axes`, and at the others after `wait()`, which
/// waits for the margins. Returns the sum of its values as an S.
template <class S, class Exec, class F, class Wait, class... Operands>
S points_of_block(Exec const& exec, stencil_points const& p, std::uint32_t axes, Wait const& wait, F const& f,
                  Operands const&... from) {
  S sum = inner_points<S>(exec, p, axes, f, from...);
  wait();
  if (axes != 0)
    for_each_boundary(p, axes, [&](point_box const& where) { sum += points_in<S>(exec, p, where, f, from...); });
  fence_on_host(exec);
  return sum;
}

/// result <- f around all points.
template <class Exec, class R, class F, class Wait, class... Operands>
void stencil_of_block(Exec const& exec, stencil_points const& p, std::uint32_t axes, Wait const& wait, F const& f,
                      aligned<R> const& result, Operands const&... from) {
  points_of_block<no_sum>(exec, p, axes, wait, written_value<std::decay_t<F>>{f}, stencil_result_block<R>{result},
                          from...);
}

}  // namespace ostraka::engine
