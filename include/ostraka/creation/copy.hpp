// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::copy(A)`: a tensor of A's type and values in memory of its own. `auto B = A;` is another handle of the
/// same block.

#include <cstdint>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/operate.hpp>

namespace ostraka {

namespace detail {

template <class R, class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] unnamed_tensor<R, Rank, Space> copy_unnamed(char const* operation, planner::spec const& s,
                                                                         planner::naming const& names,
                                                                         unnamed_tensor<T, Rank, Space> const& a) {
  common_mesh(operation, a);
  auto const size = static_cast<std::int64_t>(a.local().size());
  engine::profiled const region_of_run([&] {
    engine::push_blocks(operation, s, names, "reads and writes", 2 * size * static_cast<std::int64_t>(sizeof(T)));
  });
  unnamed_tensor<R, Rank, Space> made = uninitialised_unnamed<R>(a);
  engine::copy_block(execution_space_of<unnamed_tensor<T, Rank, Space>>(), made.local().data(),
                     static_cast<R const*>(a.local().data()), size);
  return made;
}

}  // namespace detail

namespace operation {

struct copy : detail::moves_nothing {
  static constexpr char const* name = "copy";
  template <class A>
  using verdict = reason::ok;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using axes = axes_in<A>;
    using mesh_axes = mesh_axes_in<A>;
    basic_tensor<typename A::value_type, sharding_in<A>, typename A::space> t(
        detail::copy_unnamed<typename A::value_type, typename A::element_type, A::rank, typename A::space>(
            name, spec_of<A, axes, mesh_axes>, detail::naming_of<axes, mesh_axes>, a));
    if constexpr (varying_in<A>::size > 0) t.set_origins(a.origins());
    return t;
  }
};

}  // namespace operation

/// A deep copy. Moves nothing between devices; parts of a partial tensor stay parts. To copy into an existing tensor,
/// call os::reshard_into(B, A).
/// @throws ostraka::error if A is an empty handle
template <TensorOrVariable A>
[[nodiscard]] constexpr auto copy(A const& a) {
  return detail::operate(operation::copy{}, a);
}

}  // namespace ostraka
