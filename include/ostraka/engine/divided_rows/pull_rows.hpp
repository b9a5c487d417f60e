// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The derivatives of softmax and norms of blocks along an axis that mesh axes may divide. As for the
/// statistics of the forward pass, one message merges the sums of the devices' parts of a row, and each device writes
/// the cotangents of its elements.

#include <cstdint>

#include <ostraka/engine/divided_rows/normalise_rows.hpp>
#include <ostraka/engine/kernels/rows/gain_cotangents.hpp>

namespace ostraka::engine {

/// Calls write(elements of a whole row, the rows' sums). The sums are null if each row of the block is whole.
/// Collective over the mesh axes that divide dimension `along`.
template <class Formula, class Exec, class X, class Gain, class Write>
void pull_blocks_by(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                    rows_and_cotangents<X, Gain> const& in, Formula const& formula, Write const& write) {
  using sums = row_sums<accumulator_of_t<X>, Formula::sums>;
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "reads and writes", 3 * in.rows.size() * static_cast<std::int64_t>(sizeof(X)));
  });
  std::int64_t const total = w.sizes.label[s.label[along]];
  planner::mesh_set const axes = s.over[along].axes();
  if (axes.empty() || w.mesh->absent() || w.group(axes).size() == 1)
    return write(total, static_cast<sums const*>(nullptr));
  kernel_scratch<sums, typename Exec::memory_space> const rows(in.rows.count());
  sum_rows("ostraka sums of cotangents", exec, in, formula, rows.data());
  combine_statistics(exec, w, s, along, rows.data(), in.rows.count());
  write(total, static_cast<sums const*>(rows.data()));
}

/// out <- the cotangents of this device's block of `s`.
template <class Formula, class Exec, class X, class Gain>
void pull_blocks(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                 rows_and_cotangents<X, Gain> const& in, Formula const& formula, X* out) {
  pull_blocks_by(exec, w, s, along, in, formula, [&](std::int64_t total, auto const* sums) {
    pull_rows("ostraka cotangents", exec, in, formula, total, sums, out);
  });
}

/// The same; gains <- this device's part of the cotangent of the gain.
template <class Formula, class Exec, class X, class Gain>
void pull_blocks_and_gain(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                          rows_and_cotangents<X, Gain> const& in, Formula const& formula, X* out,
                          accumulator_of_t<X>* gains) {
  pull_blocks_by(exec, w, s, along, in, formula, [&](std::int64_t total, auto const* sums) {
    pull_rows_and_gain("ostraka cotangents", exec, in, formula, total, sums, out, gains);
  });
}

}  // namespace ostraka::engine
