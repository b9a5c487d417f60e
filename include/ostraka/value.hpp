// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::value(A)`: the number that a tensor without axes holds, on every device; a loss, a residual. A[]

#include <ostraka/create.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka {

namespace detail {

template <class A>
using value_verdict =
    typename first_fault<std::conditional_t<(A::rank > 0), reason::not_a_scalar<sharding_in<A>>, reason::ok>,
                         wants_values<A, operation::value>>::type;

}  // namespace detail

/// The element of a tensor without axes. Not collective. @throws ostraka::error if the handle is empty, or the mesh
/// absent
template <Tensor A>
[[nodiscard]] typename A::value_type value([[maybe_unused]] A const& a) {
  using verdict = detail::value_verdict<A>;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>) {
    if (detail::common_mesh("value", a)->absent())
      throw error(
          "value: this process is none of the mesh's devices and holds no value; ask for it where mesh.absent() is false, or os::reshard the tensor to a mesh "
          "of all");
    return engine::on_host(a.local())();
  } else {
    return {};
  }
}

}  // namespace ostraka
