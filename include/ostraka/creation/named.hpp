// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `auto T = os::named("T", os::zeros<float, I/X, J>(mesh, …))`: a tensor with a label, which os::describe
/// prints: T[I_X, J] · V[J, K].

#include <string>
#include <utility>

#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

/// The same tensor, called so: a handle of the same block. Copies of the handle keep the label, results of operations
/// have none.
template <Tensor A>
[[nodiscard]] A named(std::string label, A a) {
  a.set_label(std::move(label));
  return a;
}

}  // namespace ostraka
