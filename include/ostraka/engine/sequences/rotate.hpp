// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. y[S_X, F, P] = x[S_X, F, P] with its pairs rotated, on this device's block. Positions are global indices of
/// S, which this device knows for any division of S, or elements of a tensor that is aligned with x without
/// communication.

#include <cstdint>

#include <ostraka/engine/blocks/aligned.hpp>
#include <ostraka/engine/kernels/rotation.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// The dimensions of a rotated block, and its angles: position · base^(−f/F), optionally scaled, or position · a given
/// frequency.
struct rotation {
  int positions = 0;
  int frequencies = 0;
  int pairs = 0;
  std::int64_t from = 0;  ///< the position of index 0; added to given positions
  double base = 10000;
  bool is_back = false;  ///< true to rotate by the negative angles
  angle_scaling scaling{};
  double magnitude = 1;           ///< factor of the pairs
  double const* given = nullptr;  ///< this block's frequencies, or null
  std::int64_t given_step = 1;
};

/// y <- x rotated. `positions`: the position of each element, or null for the global index. @pre x and y are this
/// device's blocks of `s`, dense, with extent 2 along the dimension of pairs. On the host, it returns when y is
/// written.
template <class Exec, class T>
void rotate_blocks(Exec const& exec, execution_context const& w, planner::spec const& s, rotation const& r,
                   aligned<std::int64_t const> const* positions, T const* x, T* y) {
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "reads and writes",
                2 * planner::block_size(s, w.here, w.sizes) * static_cast<std::int64_t>(sizeof(T)));
  });
  planner::range const frequencies = planner::range_of(s, r.frequencies, w.here, w.sizes);
  angle_table angles;
  angles.from = r.from;
  angles.first_frequency = frequencies.begin;
  angles.frequencies = frequencies.size();
  angles.all_frequencies = w.sizes.label[s.label[r.frequencies]];
  angles.base = r.base;
  angles.scaling = r.scaling;
  angles.magnitude = r.magnitude;
  angles.given = r.given;
  angles.given_step = r.given_step;
  angles.direction = r.is_back ? -1 : 1;
  if (positions != nullptr)
    angles.positions = positions->data;
  else
    angles.from += planner::range_of(s, r.positions, w.here, w.sizes).begin;

  std::int64_t step[max_rank], table_step[max_rank];  // strides of the block, and in rows of the table
  std::int64_t elements = 1, rows = 1;
  for (int d = s.rank - 1; d >= 0; --d) {
    std::int64_t const n = planner::range_of(s, d, w.here, w.sizes).size();
    bool const moves = positions != nullptr ? positions->stride[d] != 0 : d == r.positions;
    step[d] = elements;
    table_step[d] = moves ? rows : 0;
    elements *= n;
    if (moves) rows *= n;
  }
  pair_layout layout;
  layout.frequency_step = step[r.frequencies];
  layout.pair_step = step[r.pairs];
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t const n = planner::range_of(s, d, w.here, w.sizes).size();
    if (d != r.frequencies && d != r.pairs) layout.loops.add(n, step[d], table_step[d]);
    if (positions != nullptr && positions->stride[d] != 0) angles.rows.add(n, positions->stride[d]);
  }
  rotate_block(exec, angles, rows, layout, x, y);
}

}  // namespace ostraka::engine
