// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about types that cannot be trees of parameters.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class T>
struct not_a_tree {
  static_assert(never<T>, "tree: a tree is a struct template whose first parameter decides what its leaves hold, and whose other parameters are all types or all values, or a std::array or std::vector of such structs; write template <class L> struct parameters { os::leaf<L, float, I/X, J> weights; }; and pass a parameters<os::values>");
};

template <class... Trees>
struct trees_differ {
  static_assert(never<Trees...>, "tree: trees that are used together are the same struct with different leaves; pass trees of one template, as os::tree_map returns");
};

template <class Tree>
struct tree_is_not_an_aggregate {
  static_assert(never<Tree>, "tree: the fields of an aggregate are counted, and this struct has constructors, private fields or virtual functions; leave these out, or list the fields in a static constexpr function fields() (docs/design/trees.md)");
};

template <class Tree>
struct tree_has_a_base {
  static_assert(never<Tree>, "tree: a struct whose fields are counted has no base; make the base a field, or list the fields in a static constexpr function fields() (docs/design/trees.md)");
};

template <class Tree>
struct tree_has_a_c_array {
  static_assert(never<Tree>, "tree: a struct whose fields are counted has no C arrays, whose elements would count as fields; write std::array");
};

template <class Tree>
struct tree_has_too_many_fields {
  static_assert(never<Tree>, "tree: up to 16 fields are counted; group them in structs, or list them in a static constexpr function fields() (docs/design/trees.md)");
};

template <class Field, class Tree>
struct leaf_out_of_reach {
  static_assert(never<Field, Tree>, "tree: leaves are in fields, in structs that are trees themselves, and in std::array and std::vector of these; this field depends on what the leaves hold and is none of these, so leaves in it would be missed");
};

}  // namespace ostraka::reason
