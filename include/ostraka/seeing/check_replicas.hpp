// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::check_replicas(A)`: checks that blocks that are replicas by the type of A are equal.

#include <Kokkos_Core.hpp>

#include <ostraka/calls/context.hpp>
#include <ostraka/engine/agreement/compare_replicas.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka {

/// Compares replicas of blocks bit for bit: the blocks along the mesh axes over which A is neither divided nor partial.
/// Moves each block once along each of these mesh axes. Use it to find mistakes in a program that writes to blocks
/// itself. Collective over the mesh.
/// @throws ostraka::error, the same on all devices, that names two ranks, the mesh axis, and the first index at which
/// their blocks differ
template <Tensor A>
void check_replicas(A const& a) {
  using value = typename A::value_type;
  reason::raise<detail::no_block_verdict<A, operation::check_replicas>>();
  constexpr planner::spec s = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
  engine::execution_context const w = detail::context_of<axes_in<A>, mesh_axes_in<A>>("check_replicas", a);
  if (w.mesh->absent()) return;
  engine::require_same_call<value>(w, s);
  auto const local = engine::on_host(a.local());
  engine::check_replicas(w, s, local.data(), static_cast<int>(sizeof(value)));
}

}  // namespace ostraka
