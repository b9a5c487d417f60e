// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pvary<X>(a)`: a block that may differ along X from now on. float[I] → float[I] {V_X}

#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

/// The same block, which may differ along `Ms` from now on: for what is to be reduced over them though it is the same
/// on all, and for variables of loops. Nothing moves or is copied.
template <auto... Ms, Tensor A>
[[nodiscard]] auto pvary(A const& a) {
  using common = detail::common_of<mesh_axes_in<A>, type_list<detail::type_of<Ms>...>>;
  using block = basic_tensor<typename A::element_type,
                             typename detail::with_varying<sharding_in<A>, type_list<detail::type_of<Ms>...>>::type,
                             typename A::space>;
  if constexpr (common::size > 0) {
    reason::raise<reason::divided_tensor_meets_block<typename detail::type_at<common, 0>::type, sharding_in<A>,
                                                     sharding<varying<detail::type_of<Ms>...>>>>();
    return a;
  } else {
    return block(a);
  }
}

}  // namespace ostraka
