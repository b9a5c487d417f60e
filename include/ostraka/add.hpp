// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The linear operations: `os::add(A, B)`, `os::scale(a, A)`. They take partial tensors to partial ones: A[I] {U_X} + B[I] {U_X}.

#include <ostraka/map.hpp>

namespace ostraka {

namespace detail {

struct plus {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a + b;
  }
};

template <class T>
struct times {
  T factor;
  KOKKOS_INLINE_FUNCTION T operator()(T const& a) const { return factor * a; }
};

}  // namespace detail

/// A + B element by element, with the rules of os::map; partial operands are partial over the same mesh axes, and so is the sum.
template <Tensor A, Tensor B>
[[nodiscard]] auto add(A const& a, B const& b) {
  return detail::checked_map<operation::add, true, typename A::value_type>("add", detail::plus{}, a, b);
}

/// The tensor times a number that all devices share.
template <Tensor A>
[[nodiscard]] auto scale(typename A::value_type const& factor, A const& a) {
  return detail::checked_map<operation::scale, true, typename A::value_type>("scale", detail::times<typename A::value_type>{factor}, a);
}

}  // namespace ostraka
