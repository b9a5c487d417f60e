// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::holds_first_copy(A)`: true on the first of the devices that hold the same block. It is true on exactly
/// one device for each block, so that a program's own file has each element once.
///
///     A          on X = 2 · Y = 2           true on the devices (x, y)
///     [I_X, J]   two blocks, each on two    (0, 0) and (1, 0)
///     [I, J]     one block, on four         (0, 0)
///     [I] {U_X}  a part for each x          (0, 0) and (1, 0)

#include <string_view>

#include <ostraka/calls/context.hpp>

namespace ostraka {

namespace detail {

[[gnu::cold, gnu::noinline]] inline bool is_first_but_for(engine::device_mesh const& mesh, std::string_view const* own,
                                                          int count) {
  if (mesh.absent()) return false;
  for (int axis = 0; axis < mesh.axes(); ++axis) {
    bool is_own = false;
    for (int i = 0; i < count; ++i) is_own |= mesh.name(axis) == own[i];
    if (!is_own && mesh.coordinate(axis) != 0) return false;
  }
  return true;
}

}  // namespace detail

/// True if this device's block, which may be empty, is the first copy of it. The coordinates of first copies are 0
/// along the mesh axes over which A is neither divided nor partial, and along which, in the body of os::shard_map, it
/// does not vary. False where the mesh is absent. Nothing is sent.
/// @throws ostraka::error for an empty handle
template <Tensor A>
[[nodiscard]] bool holds_first_copy(A const& a) {
  using own = union_of<mesh_axes_in<A>, varying_in<A>>;
  return detail::is_first_but_for(*detail::common_mesh("holds_first_copy", a), detail::names_of<own>.data(), own::size);
}

}  // namespace ostraka
