// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::defer_over<Y>(x)`: x, with cotangents that are added before they are reduced over Y. If several
/// products take x with weights that Y divides (queries, keys and values; a gate and its partner), each contributes a
/// partial cotangent of x: with os::defer_over one reduction serves all products. It is Megatron's f.

#include <ostraka/gradient/cotangents/deferred.hpp>

namespace ostraka {

template <class T>
class abstract;  // of abstract.hpp

namespace detail {

template <class How, class T>
  requires(!std::is_void_v<How>)
struct find_cotangent<How, abstract<T>> {
  using type = abstract<typename find_cotangent<How, T>::type>;
};

}  // namespace detail

/// The same value. Its cotangents stay partial over these mesh axes until all of them have been added. None of these
/// mesh axes may divide x.
template <auto... Xs, TensorOrVariable A>
[[nodiscard]] constexpr auto defer_over(A const& x) {
  if constexpr (!is_variable<A> || is_abstract<A>) {
    return x;
  } else {
    using type = typename A::tensor_type;
    return variable<type, detail::cotangent_by<deferred_over<Xs...>, type>>(x);
  }
}

}  // namespace ostraka
