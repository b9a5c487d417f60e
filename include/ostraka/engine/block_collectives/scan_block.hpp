// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scans of blocks along mesh axes, and the barrier of a group. Both are done when the call returns, since
/// there is nothing to overlap them with.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/barrier.hpp>
#include <ostraka/engine/collectives/scan.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The dense block `to` becomes the reduction of the blocks `from` of all devices up to this one, or, exclusive, before
/// it. All blocks have the same length; `block` describes them to check mode. Collective over the mesh axes.
template <class Exec, class T>
void scan_block(Exec const& exec, execution_context const& w, planner::spec const& block, planner::mesh_set axes,
                strided_block<T const*> const& from, strided_block<T*> const& to, reduction how, scan_kind kind) {
  require_same_call<T>(w, block, axes, [&] {
    return join_text(planner::name_of(how), kind == scan_kind::exclusive ? ", exclusive" : ", inclusive");
  });
  communicator const& members = w.group(axes);
  if (to.where.size() > 0) copy(exec, to, from);
  fence_before_messages(exec);
  arrays_of<Exec> arrays(exec);
  scan(members, arrays, to.data, to.where.size(), how, kind, {});
  fence_on_host(exec, arrays);
}

/// Waits for all devices along mesh axes. Collective over them.
inline void barrier(execution_context const& w, planner::mesh_set axes) {
  communicator const& members = w.group(axes);
  if (compares_calls(w)) require_agreement(members, [&] { return std::string(w.operation); });
  barrier(members);
}

}  // namespace ostraka::engine
