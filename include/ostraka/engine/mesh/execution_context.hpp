// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The context that a plan runs in: its mesh axes on the running mesh, the current extents, and this device's
/// coordinates.

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

/// Binds a plan's numbers of mesh axes and labels to a running mesh and to extents.
struct execution_context {
  device_mesh const* mesh = nullptr;
  int axis[planner::max_mesh_axes]{};  ///< of the running mesh, by the plan's number
  planner::extents sizes{};
  planner::coordinates here{};
  char const* operation = "";  ///< the operation that runs here, and the names of its numbers: for messages
  planner::naming names{};
  bool tools_listen = false;  ///< a tool listens to Kokkos when the operation begins
  bool is_begun = false;      ///< the operation is in flight; comparing its first run would wait for others
  exclusive_use use{};        ///< this thread's use of the mesh while the context exists; a copy does not use the mesh

  execution_context() = default;
  /// Prepares for `mesh_axes` mesh axes, whose sizes the caller writes, with the extents of the operation's labels.
  explicit execution_context(int mesh_axes)
      : sizes(0, mesh_axes), tools_listen(Kokkos::Tools::profileLibraryLoaded()) {}

  /// Returns the devices that take part in a step over these mesh axes, this one among them.
  [[nodiscard]] communicator const& group(planner::mesh_set axes) const { return mesh->group(bits_of(axes)); }

  /// Returns these axes in the numbering of the running mesh.
  [[nodiscard]] std::uint32_t bits_of(planner::mesh_set axes) const {
    std::uint32_t bits = 0;
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (axes.contains(m)) bits |= std::uint32_t{1} << axis[m];
    return bits;
  }
};

/// Returns the context of an operation. A template so that ostraka::compiled can hold it. @throws ostraka::error, on
/// all devices alike, if the mesh lacks one of the mesh axes
template <class = void>
execution_context make_context(device_mesh const& mesh, std::string_view const* mesh_axes, int count,
                               char const* operation) {
  execution_context w(count);
  w.use = mesh.use(operation);
  w.mesh = &mesh;
  w.operation = operation;
  w.names.mesh_axes = mesh_axes;
  w.here.nowhere = mesh.absent();
  for (int m = 0; m < count; ++m) {
    w.axis[m] = mesh.find(mesh_axes[m]);
    if (w.axis[m] < 0)
      throw_error(operation, ": the mesh has no axis ", mesh_axes[m],
                  "; add it to os::make_mesh (size 1 costs nothing)");
    w.sizes.mesh[m] = mesh.size(w.axis[m]);
    w.here.at[m] = mesh.coordinate(w.axis[m]);
  }
  return w;
}

/// A device's coordinates, in the numbering of the mesh and in that of a plan.
struct device_coordinates {
  int at[device_mesh::max_axes]{};
  planner::coordinates in_plan{};
};

inline device_coordinates coordinates_on(execution_context const& w, int device) {
  device_coordinates c;
  for (int a = w.mesh->axes() - 1; a >= 0; --a) {
    c.at[a] = device % w.mesh->size(a);
    device /= w.mesh->size(a);
  }
  for (int m = 0; m < w.sizes.mesh_axes; ++m) c.in_plan.at[m] = c.at[w.axis[m]];
  return c;
}

}  // namespace ostraka::engine
