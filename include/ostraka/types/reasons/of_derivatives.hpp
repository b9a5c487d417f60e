// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons of differentiation.

#include <ostraka/types/reasons/reason.hpp>

namespace ostraka::reason {

template <class Operation>
struct no_derivative {
  static_assert(never<Operation>, "derivative: an operation on variables has a rule for its derivative, and this one has none; hold the variable by os::stop_gradient, give the operation a derivative of your own by os::custom_vjp, or specialise os::derivative_of for it");
};

template <class T>
struct derivative_of_no_real_numbers {
  static_assert(never<T>, "value_and_grad: derivatives are taken of real floating-point numbers; hand tensors of other elements over as constants, behind the parameters");
};

template <class Sharding>
struct loss_is_no_number {
  static_assert(never<Sharding>, "value_and_grad: the function gives one number, a tensor without axes that is not partial; reduce its result by os::sum<>(x) or os::mean<>(x)");
};

}  // namespace ostraka::reason
