// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pvary<X>(a)`: a block that may differ along X from now on. float[I] → float[I] {V_X}

#include <ostraka/calls/operate.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

namespace detail {

template <class A, class... Ms>
consteval auto check_pvary() {
  using common = common_of<mesh_axes_in<A>, type_list<Ms...>>;
  if constexpr (common::size > 0)
    return found<reason::divided_tensor_meets_block<typename type_at<common, 0>::type, sharding_in<A>,
                                                    sharding<varying<Ms>...>>>{};
  else
    return found<reason::ok>{};
}

}  // namespace detail

namespace operation {

/// os::pvary<X> as an operation.
template <class... Ms>
struct pvary {
  static constexpr char const* name = "pvary";
  template <class A>
  using verdict = typename decltype(detail::check_pvary<A, Ms...>())::type;
  template <class A>
  using moves = detail::nothing_moved;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    return basic_tensor<typename A::element_type,
                        typename detail::with_varying<sharding_in<A>, type_list<Ms...>>::type, typename A::space>(a);
  }
};

}  // namespace operation

/// The same block, which may differ along `Ms` from now on. Use it for blocks that are to be reduced over `Ms` although
/// they are the same on all devices, and for variables of loops. Nothing moves or is copied.
template <auto... Ms, TensorOrVariable A>
[[nodiscard]] constexpr auto pvary(A const& a) {
  return detail::operate(operation::pvary<detail::type_of<Ms>...>{}, a);
}

}  // namespace ostraka
