// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::value(A)`: the number in a tensor without axes, A[], on every device; for instance a loss or a
/// residual.

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka {

namespace detail {

template <class A>
consteval auto check_value() {
  if constexpr (A::rank > 0)
    return found<reason::not_a_scalar<sharding_in<A>>>{};
  else
    return found<first_fault<no_block_verdict<A, operation::value>, values_verdict<A, operation::value>>>{};
}

template <class A>
using value_verdict = typename decltype(check_value<A>())::type;

}  // namespace detail

/// The element of a tensor without axes. Not collective. @throws ostraka::error if the handle is empty, or the mesh
/// absent
template <TensorOrVariable A>
[[nodiscard]] typename A::value_type value(A const& given) {
  [[maybe_unused]] auto const& a = detail::underlying_tensor(given);
  if constexpr (reason::ok_or_raise<detail::value_verdict<A>>()) {
    if (detail::common_mesh("value", a)->absent())
      throw_error(
          "value: this process is none of the mesh's devices and holds no value; ask for it where mesh.absent() is "
          "false, or os::reshard the tensor to a mesh of all");
    return engine::read_on_host(a.local());
  } else {
    return {};
  }
}

/// Does not compile: the error says that the argument is not a tensor.
template <class T>
  requires(!TensorOrVariable<T>)
T value(T const& number) {
  reason::raise<reason::value_of_a_non_tensor<T>>();
  return number;
}

}  // namespace ostraka
