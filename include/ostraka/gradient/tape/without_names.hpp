// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The type as which the tape keeps a value: a tensor without its names. So slots of cotangents, recipes and
/// saved results are compiled once for all shardings of a rank.

#include <ostraka/tensors/tensor.hpp>

namespace ostraka::detail {

template <class T>
struct find_without_names {
  using type = T;
};
template <class T, class Sharding, class Space>
struct find_without_names<basic_tensor<T, Sharding, Space>> {
  using type = typename tensor_parts<T, Sharding, Space>::type;
};

/// A tensor type without its names; any other type unchanged.
template <class T>
using without_names = typename find_without_names<T>::type;

}  // namespace ostraka::detail
