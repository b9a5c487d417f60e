// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Gradients in cases from the field.

#include <type_traits>

#include <ostraka/gradient.hpp>

namespace field {

/// The gradient of f by p, of p's own type.
template <class F, class P>
auto gradient(F const& f, P const& p) {
  auto const g = ostraka::value_and_grad(f)(p).gradient;
  static_assert(std::is_same_v<std::remove_const_t<decltype(g)>, P>);
  return g;
}

}  // namespace field
