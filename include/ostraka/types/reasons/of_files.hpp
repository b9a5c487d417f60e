// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about objects that cannot be saved to or loaded from files.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Leaf>
struct saved_leaf_is_not_a_tensor {
  static_assert(never<Leaf>, "save: a saved tree has tensors in its leaves, and these leaves are something else; pass a tree of os::values, as os::make_tree and os::tree_map return");
};

template <class T>
struct cast_to_a_non_real_type {
  static_assert(never<T>, "load: os::cast_to converts floating-point numbers of a file, to double, float, os::float16 or os::bfloat16; load other elements as they are and os::cast them");
};

}  // namespace ostraka::reason
