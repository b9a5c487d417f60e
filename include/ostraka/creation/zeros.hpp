// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Tensors of one number: `os::zeros<float, I/X, J>(mesh, I = 1024, J = 8)`, `os::zeros_like(A)`.

#include <ostraka/blocks/create.hpp>
#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/operate.hpp>

namespace ostraka {

/// A tensor of zeros. Give extents by name, written out or in an os::sizes; axes with a static extent need none.
/// @throws ostraka::error for a negative extent or one that contradicts a static one
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto zeros(Mesh const& m, Given const&... given) {
  auto t = detail::make_uninitialised<typename detail::named_tensor<T, Dims...>::type>("zeros", m, given...);
  detail::fill_block("zeros", t, typename decltype(t)::value_type(0));
  return t;
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto zeros(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

namespace operation {

struct zeros_like : detail::moves_nothing {
  static constexpr char const* name = "zeros_like";
  template <class A>
  using verdict = reason::ok;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    detail::common_mesh(name, a);
    auto t = detail::uninitialised_like(a);
    detail::fill_block(name, t, typename A::value_type(0));
    return t;
  }
};

}  // namespace operation

/// A tensor of zeros of A's type, mesh and extents. @throws ostraka::error if A is an empty handle
template <TensorOrVariable A>
[[nodiscard]] constexpr auto zeros_like(A const& a) {
  return detail::operate(operation::zeros_like{}, a);
}

}  // namespace ostraka
