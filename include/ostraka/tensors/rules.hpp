// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Tensors under rules: with R = {batch/X, hidden/Y}, `os::tensor_under<R, float, batch, hidden>` is
/// A[batch_X, hidden_Y].

#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/shardings/logical_axes.hpp>

namespace ostraka {

/// The tensor with these axes, divided as the rules say: `constexpr os::rules<batch/X, hidden/Y> R;`. If R is a type,
/// pass `R{}`.
template <auto Rules, class T, auto... Axes>
using tensor_under = tensor<T, Rules(Axes...)>;

}  // namespace ostraka
