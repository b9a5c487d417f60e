// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::axis_index<X>(a)` and `os::axis_size<X>(a)`: which of the devices along X this one is, and how many
/// there are.

#include <string>

#include <ostraka/detail/operation.hpp>
#include <ostraka/mesh.hpp>
#include <ostraka/types/varying_int.hpp>

namespace ostraka {

namespace detail {

template <class T>
engine::device_mesh const& mesh_of(char const* operation, T const& where) {
  if constexpr (Tensor<T>)
    return *common_mesh(operation, where);
  else
    return *where.handle();
}

template <class M>
int running_axis(char const* operation, engine::device_mesh const& mesh) {
  int const axis = mesh.find(M::name);
  if (axis < 0)
    throw error(std::string(operation) + ": the mesh has no axis " + std::string(M::name) +
                "; add it to os::make_mesh (size 1 costs nothing)");
  return axis;
}

}  // namespace detail

/// This device's coordinate along X, of the mesh of a tensor or block, or of a mesh itself. −1 where the mesh is
/// absent.
template <auto X, class Where>
[[nodiscard]] auto axis_index(Where const& where) {
  using M = detail::type_of<X>;
  engine::device_mesh const& mesh = detail::mesh_of("axis_index", where);
  return varying_int<M>(mesh.coordinate(detail::running_axis<M>("axis_index", mesh)));
}

/// The number of devices along X; a constant where the mesh axis has a static size, and then `os::axis_size<X>()`.
template <auto X, class Where>
[[nodiscard]] int axis_size(Where const& where) {
  using M = detail::type_of<X>;
  engine::device_mesh const& mesh = detail::mesh_of("axis_size", where);
  return mesh.size(detail::running_axis<M>("axis_size", mesh));
}
template <auto X>
  requires(detail::type_of<X>::extent != dynamic_extent)
[[nodiscard]] consteval int axis_size() { return static_cast<int>(detail::type_of<X>::extent); }

}  // namespace ostraka
