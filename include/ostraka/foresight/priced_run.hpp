// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The run of a program that os::cost_of, os::time_of, os::advice_of and os::trace_of share. Each sets up its
/// own counter or listener, and calls `run_priced`.

#include <cstdint>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/meshes/mesh.hpp>

namespace ostraka::detail {

/// Runs f. If the mesh is dry, nothing is computed during the call, on any mesh.
template <MeshAxis... Ms, class F>
void run_priced(mesh<Ms...> const& m, F&& f) {
  engine::only_priced_scope const priced(m.handle()->is_dry());
  f();
}

template <class M, MeshAxis... Ms>
constexpr int position_on_mesh() {
  if constexpr (!is_one_of<M, Ms...>) {
    reason::raise<reason::unknown_mesh_axis<M, mesh<Ms...>>>();
    return 0;
  } else {
    return position_in<M, type_list<Ms...>>;
  }
}

/// Mesh axes as bits, in the order of `Ms`.
template <MeshAxis... Ms, MeshAxis... Along>
constexpr std::uint32_t bits_on_mesh(type_list<Ms...>, Along...) {
  return ((std::uint32_t{1} << position_on_mesh<Along, Ms...>()) | ... | 0u);
}

}  // namespace ostraka::detail
