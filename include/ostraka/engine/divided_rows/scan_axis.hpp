// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums along a dimension of a tensor that mesh axes may divide: B[I, J_Y](i, j) = Σ A(i, k), k ≤ j.
/// If they divide it, each device sums its rows, a scan adds the totals in the order of the blocks, and each device's
/// running sums start with the total before its block. Each element is then read twice and written once.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/scan.hpp>
#include <ostraka/engine/kernels/rows/scan_rows.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

/// Returns the member of the group along `over` with block number `block` of an axis that they divide, the first major.
/// A group numbers its members in the order of the running mesh's axes.
inline int member_with_block(execution_context const& w, planner::mesh_order over, std::int64_t block) {
  std::int64_t at[planner::max_mesh_axes]{};
  for (int k = over.size() - 1; k >= 0; --k) {
    at[k] = block % w.sizes.mesh[over[k]];
    block /= w.sizes.mesh[over[k]];
  }
  std::int64_t member = 0;
  for (int axis = 0; axis < w.mesh->axes(); ++axis)
    for (int k = 0; k < over.size(); ++k)
      if (w.axis[over[k]] == axis) member = member * w.sizes.mesh[over[k]] + at[k];
  return static_cast<int>(member);
}

/// Computes the total before this device's block in each row: of the previous blocks, or in reverse of the later ones.
template <class Exec, class Sum>
void scan_totals(Exec const& exec, execution_context const& w, planner::mesh_order over, bool reverse, Sum* totals,
                 std::int64_t count, reduction how) {
  communicator const& members = w.group(over.axes());
  int const n = members.size();
  auto const place = [&](std::int64_t block) { return reverse ? n - 1 - block : block; };
  short_array<int, 64> const member_at(static_cast<std::size_t>(n), [&](std::size_t p) {
    return member_with_block(w, over, place(static_cast<std::int64_t>(p)));
  });
  scan_order const order{member_at.data(), static_cast<int>(place(planner::block_number(over, w.here, w.sizes)))};
  fence_before_messages(exec);
  arrays_of<Exec> arrays(exec);
  scan(members, arrays, totals, count, how, scan_kind::exclusive, order);
  fence_on_host(exec, arrays);
}

}  // namespace detail

/// y <- the running sums of x along dimension `along` of `block`; x and y are dense blocks of this device. Collective
/// over the mesh axes that divide the dimension.
template <reduction How, class Exec, class T>
void scan_axis(Exec const& exec, execution_context const& w, planner::spec const& block, int along,
               scan_direction direction, T const* x, T* y) {
  std::int64_t extents[max_rank + 1]{};
  for (int i = 0; i < block.rank; ++i) extents[i] = planner::range_of(block, i, w.here, w.sizes).size();
  row_layout const rows = rows_along(extents, block.rank, along);
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, block, w.names, "reads and writes",
                2 * rows.size() * static_cast<std::int64_t>(sizeof(T)));
  });
  using sum = accumulator_of_t<T>;
  planner::mesh_order const over = block.over[along];
  if (over.empty() || w.mesh->absent() || w.group(over.axes()).size() == 1)
    return scan_rows<How>(exec, rows, direction, x, y, static_cast<sum const*>(nullptr), static_cast<sum*>(nullptr));
  require_same_call<T>(w, block, over.axes(), [&] {
    return join_text(direction.exclusive ? "exclusive" : "inclusive", direction.reverse ? ", reversed" : "");
  });
  kernel_scratch<sum, typename Exec::memory_space> const totals(rows.count());
  scan_rows<How>(exec, rows, direction, x, static_cast<T*>(nullptr), static_cast<sum const*>(nullptr), totals.data());
  detail::scan_totals(exec, w, over, direction.reverse, totals.data(), rows.count(), How);
  scan_rows<How>(exec, rows, direction, x, y, static_cast<sum const*>(totals.data()), static_cast<sum*>(nullptr));
}

}  // namespace ostraka::engine
