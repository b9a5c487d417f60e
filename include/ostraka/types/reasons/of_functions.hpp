// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons of the functions that os::map of variables is given.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class F>
struct function_has_no_derivative {
  static_assert(never<F>, "map: a function of variables says its derivative, derivative(x), or derivative<K>(x, y) of several arguments, and for derivatives of derivatives second_derivative(x), or second_derivative<K, L>(x, y); give this one such members, or join it with its derivative by os::differentiable(f, df)");
};

}  // namespace ostraka::reason
