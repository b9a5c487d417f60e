// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::describe(A)`: `float[I_X, J] of 1024 × 512 on X=2 · Y=4; device 0 holds [0, 512) × [0, 512), 1,048,576 B`.

#include <string>

#include <ostraka/plan/describe.hpp>
#include <ostraka/tensor.hpp>

namespace ostraka {

namespace detail {

template <class T>
inline constexpr char const* element_name = "";
template <>
inline constexpr char const* element_name<float> = "float";
template <>
inline constexpr char const* element_name<double> = "double";
template <>
inline constexpr char const* element_name<Kokkos::complex<float>> = "complex<float>";
template <>
inline constexpr char const* element_name<Kokkos::complex<double>> = "complex<double>";
template <>
inline constexpr char const* element_name<std::int32_t> = "int32";
template <>
inline constexpr char const* element_name<std::int64_t> = "int64";

}  // namespace detail

/// Type, extents, mesh and this device's block of a tensor, in a line.
template <Tensor A>
[[nodiscard]] std::string describe(A const& a) {
  static constexpr auto labels = detail::names(axes_in<A>{});
  static constexpr auto mesh_names = detail::names(mesh_axes_in<A>{});
  planner::naming const n{labels.data(), mesh_names.data(), static_cast<int>(sizeof(typename A::value_type))};
  std::string text = detail::element_name<typename A::value_type> + planner::describe(spec_of<A, axes_in<A>, mesh_axes_in<A>>, n);
  if (!a.mesh_handle()) return text + ", an empty handle";
  std::string extents;
  std::string block;
  for (int i = 0; i < A::rank; ++i) {
    std::string const times = i > 0 ? " × " : "";
    extents += times + std::to_string(a.extents()[static_cast<std::size_t>(i)]);
    block += times + '[' + std::to_string(a.range(i).begin) + ", " + std::to_string(a.range(i).end) + ')';
  }
  std::string shape;
  engine::device_mesh const& mesh = *a.mesh_handle();
  for (int m = 0; m < mesh.axes(); ++m) shape += (m > 0 ? " · " : "") + mesh.name(m) + '=' + std::to_string(mesh.size(m));
  auto const bytes = static_cast<std::int64_t>(a.local().size() * sizeof(typename A::value_type));
  return text + (A::rank > 0 ? " of " + extents : "") + " on " + shape + "; device " + std::to_string(mesh.device()) + " holds " +
         (A::rank > 0 ? block + ", " : "") + planner::describe_bytes(bytes);
}

}  // namespace ostraka
