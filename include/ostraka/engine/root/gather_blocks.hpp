// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Gathers the blocks of all devices into a whole tensor on device 0. A[I_X, J_Y] → A[I, J] on device 0.

#include <cstdint>

#include <ostraka/engine/collectives/gather.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/root/root_blocks.hpp>
#include <ostraka/engine/run/profiling.hpp>

namespace ostraka::engine {

/// `block` is this device's block of a tensor `s`, dense and on the host. On device 0 `make_whole()` returns the memory
/// of the whole tensor, row-major; it is not called elsewhere. Collective over the mesh.
template <class T, class MakeWhole>
void gather_blocks(execution_context const& w, planner::spec const& s, T const* block, MakeWhole const& make_whole) {
  auto const exec = instance<Kokkos::DefaultHostExecutionSpace>();
  root_blocks const blocks = root_blocks_of(w, s);
  profiled const region_of_run(w, [&] { push_root_blocks(w, s, blocks, sizeof(T)); });
  bool const root = w.mesh->device() == 0;
  T* const whole = root ? make_whole() : nullptr;
  scratch<T, Kokkos::HostSpace> const message(root ? blocks.elements() : 0);
  gather(w.mesh->world(), block, message.data(), blocks.counts);
  if (!root) return;
  strided_block<T*> const to = dense_block(whole, whole_box(w, s));
  blocks.for_each([&](box const& b, std::int64_t at) {
    copy(exec, to.part(b), dense_block(static_cast<T const*>(message.data()) + at, b));
  });
  fence(exec);
}

}  // namespace ostraka::engine
