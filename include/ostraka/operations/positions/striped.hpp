// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::striped<X>`, an option, says that the operands' sequences are in the order of `os::stripe<S/X>`, so
/// positions differ from indices. Each device along X has an early and a late part of the sequence
/// (plan/blocks/stripes.hpp).

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/sequences/position_at.hpp>
#include <ostraka/plan/blocks/stripes.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// The type of os::striped.
template <class... Ms>
struct striped_over {};

/// An option: sequences are in the order of os::stripe<S/X>.
template <auto... Ms>
inline constexpr striped_over<detail::type_of<Ms>...> striped{};

namespace detail {

[[noreturn, gnu::cold]] inline void throw_no_mesh_axis(char const* operation, std::string_view name) {
  throw_error(operation, ": the mesh has no axis ", name, "; add it to os::make_mesh (size 1 costs nothing)");
}

/// The number of devices along the mesh axes.
template <class... Ms>
std::int64_t devices_along(char const* operation, engine::device_mesh const& mesh) {
  std::int64_t n = 1;
  for (std::string_view const name : {Ms::name...}) {
    int const axis = mesh.find(name);
    if (axis < 0) throw_no_mesh_axis(operation, name);
    n *= mesh.size(axis);
  }
  return n;
}

template <class... Ms, class A>
constexpr std::int64_t devices_along(char const* operation, A const& a) {
  auto const& tensor = underlying_tensor(a);
  if constexpr (Tensor<std::remove_cvref_t<decltype(tensor)>>)
    return devices_along<Ms...>(operation, *common_mesh(operation, tensor));
  else
    return 0;  // unknown
}

/// Sets an operation's `stripes`, the number of devices over which its operand is striped, if the option is
/// os::striped.
template <class Operation, class A, class Option>
constexpr void set_stripes(Operation&, A const&, Option const&) {}
template <class Operation, class A, class... Ms>
constexpr void set_stripes(Operation& operation, A const& a, striped_over<Ms...> const&) {
  operation.stripes = devices_along<Ms...>(Operation::name, a);
}

/// @throws ostraka::error, on all devices alike, if a sequence cannot be cut into stripes
inline void require_stripes(char const* operation, std::string_view axis, planner::stripes const& s) {
  if (!s.fits())
    throw_error(operation, ": a striped sequence over n devices is cut into 2n equal chunks, and ", axis, " = ",
                s.extent, " is not divisible by ", 2 * s.devices, "; pad it");
}

}  // namespace detail

}  // namespace ostraka
