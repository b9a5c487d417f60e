// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scatters a whole array on device 0 into the blocks of all devices. A[I, J] on device 0 → A[I_X, J_Y].

#include <cstdint>
#include <string>

#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/memory/misaligned.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/root/root_blocks.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The extents of an array on device 0. For a list, only the number of elements is known. If the array's elements lack
/// an alignment, the first extent is minus that alignment.
struct whole_extents {
  int rank = 0;  ///< -1: a list
  std::int64_t extent[max_rank]{};
};

namespace detail {

[[gnu::cold]] inline std::string describe_extents(std::int64_t const* extents, int rank) {
  std::string text;
  for (int i = 0; i < rank; ++i) append_text(text, i > 0 ? " × " : "", extents[i]);
  return rank == 0 ? "one element" : text;
}

}  // namespace detail

/// @throws ostraka::error, on all devices alike, unless the array of device 0 has the extents of a tensor `s`. Device 0
/// sends its extents to the others, except on a dry mesh. Collective over the mesh.
inline void require_whole(execution_context const& w, planner::spec const& s, whole_extents given) {
  broadcast(w.mesh->world(), given.extent, given.rank < 0 ? 1 : given.rank);
  if (w.mesh->is_dry() && w.mesh->device() != 0) return;
  if (given.extent[0] < 0)
    throw_error(w.operation, ": ", misaligned_in_words(-given.extent[0], "the array on device 0"));
  std::int64_t wanted[max_rank]{};
  std::int64_t elements = 1;
  bool same = true;
  for (int i = 0; i < s.rank; ++i) {
    wanted[i] = w.sizes.label[s.label[i]];
    elements *= wanted[i];
    same = same && (given.rank < 0 || given.extent[i] == wanted[i]);
  }
  if (given.rank < 0) same = given.extent[0] == elements;
  if (same) return;
  std::string const tensor = detail::describe_extents(wanted, s.rank);
  std::string const has =
      given.rank < 0 ? join_text(given.extent[0], " elements") : detail::describe_extents(given.extent, given.rank);
  throw_error(w.operation, ": the array on device 0 has the extents of the tensor, but it is of ", has,
              " and the tensor of ", tensor, "; give the whole array there (on the other devices it is not read)");
}

namespace detail {

template <class T>
void scatter_to_host(execution_context const& w, planner::spec const& s, T const* whole,
                     planner::strided_box const& layout, T* block) {
  auto const exec = instance<Kokkos::DefaultHostExecutionSpace>();
  root_blocks const blocks = root_blocks_of(w, s);
  profiled const region_of_run(w, [&] { push_root_blocks(w, s, blocks, sizeof(T)); });
  bool const root = w.mesh->device() == 0;
  scratch<T, Kokkos::HostSpace> const message(root ? blocks.elements() : 0);
  if (root) {
    strided_block<T const*> const from{layout, whole};
    blocks.for_each(
        [&](box const& b, std::int64_t at) { copy(exec, dense_block(message.data() + at, b), from.part(b)); });
    fence(exec);
  }
  scatter(w.mesh->world(), static_cast<T const*>(message.data()), block, blocks.counts);
  broadcast(w.mesh->group(replicating_axes(w)), block, box_of(s, w.here, w.sizes).size());
}

}  // namespace detail

/// block <- its part of `whole`. `block` is this device's dense block of a tensor `s`, in memory of `Exec`. Only device
/// 0 reads `whole` and its layout, on the host. Collective over the mesh.
template <class Exec, class T>
void scatter_blocks(Exec const& exec, execution_context const& w, planner::spec const& s, T const* whole,
                    planner::strided_box const& layout, T* block) {
  with_array_for_mpi(exec, host_work::computes, block, box_of(s, w.here, w.sizes).size(),
                     [&](T* on_host) { detail::scatter_to_host(w, s, whole, layout, on_host); });
}

}  // namespace ostraka::engine
