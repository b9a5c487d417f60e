// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::print_blocks(a)`: prints each device's block of a tensor or of a body's value, in the order of the
/// mesh, with coordinates.
///
///     X=0 Y=1  float[I, J] of 2 × 2
///       0 1
///       2 3

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/call_check/element_name.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/root/gather_text.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/plan/typed/named_plan.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

[[gnu::cold]] inline std::string number_as_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

template <class T>
[[gnu::cold]] std::string element_as_text(T const& x) {
  if constexpr (!std::is_same_v<real_of<T>, T>)
    return join_text(number_as_text(static_cast<double>(x.real())), x.imag() < 0 ? "" : "+",
                     number_as_text(static_cast<double>(x.imag())), 'i');
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(x);
  else
    return number_as_text(static_cast<double>(static_cast<accumulator_of_t<T>>(x)));
}

// The device's coordinates, the block's type and extents, and its rows.
template <class A>
[[gnu::cold]] std::string block_as_text(A const& a) {
  engine::device_mesh const& mesh = *a.mesh_handle();
  std::string text;
  for (int m = 0; m < mesh.axes(); ++m) append_text(text, m > 0 ? " " : "", mesh.name(m), '=', mesh.coordinate(m));
  append_text(text, "  ", named_type(a));
  auto const local = engine::on_host(a.local());
  std::int64_t count = 1, row = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(A::rank); ++i) {
    row = static_cast<std::int64_t>(local.extent(i));
    count *= row;
    append_text(text, i == 0 ? " of " : " × ", row);
  }
  for (std::int64_t k = 0; k < count; ++k)
    append_text(text, k % row == 0 ? "\n  " : " ", element_as_text(local.data()[k]));
  return join_text(text, '\n');
}

}  // namespace detail

/// The text that os::print_blocks prints, on all devices; empty if the mesh is absent. Collective over the mesh.
template <TensorOrVariable A>
[[nodiscard, gnu::cold]] std::string blocks_as_text(A const& given) {
  auto const& a = detail::underlying_tensor(given);
  engine::device_mesh const& mesh = *detail::common_mesh("print_blocks", a);
  return mesh.absent() ? std::string() : engine::gather_text(mesh, detail::block_as_text(a));
}

/// Prints every device's block on device 0 of the mesh. Meant for small blocks. Collective over the mesh.
template <TensorOrVariable A>
[[gnu::cold]] void print_blocks(A const& a, std::FILE* file = stdout) {
  std::string const text = blocks_as_text(a);
  if (!a.mesh_handle()->absent() && a.mesh_handle()->device() == 0) {
    std::fputs(text.c_str(), file);
    std::fflush(file);
  }
}

}  // namespace ostraka
