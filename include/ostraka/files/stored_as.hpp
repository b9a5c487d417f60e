// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The names of a tree's leaves in a file, if they differ from those in the tree: one table for loading and
/// saving.
///
///     os::stored_as const names = {{"layers.{}.query", "model.layers.{}.self_attn.q_proj.weight"},
///                                  {"layers.{}.*", "model.layers.{}.*"}};
///     auto params = os::load<model>("hub", mesh, names);
///     os::save("tuned.safetensors", params, names);

#include <initializer_list>
#include <string>
#include <string_view>

#include <ostraka/engine/formats/name_rules.hpp>

namespace ostraka {

using engine::in_tensor;

/// In a rule of os::stored_as: the file has the leaf's dimensions in the opposite order.
inline constexpr in_tensor transposed{.is_transposed = true};

/// In a rule of os::stored_as: the tensor's rows are `of` equal chunks, and the leaf is chunk number `first`, or
/// `count` chunks from `first` on.
[[nodiscard]] constexpr in_tensor chunk(int first, int of, int count = 1) {
  return in_tensor{}.chunk(first, of, count);
}

/// Rules that map a leaf's name in the tree, such as `layers.3.query`, to its name in the file, and back. The first
/// rule that matches applies. A name that no rule matches is the same on both sides. `{}` matches a number, and `*` at
/// the end matches any rest. If lists share a range of numbers in the file, each has a slice of it, in Python's
/// notation:
///
///     {"dense.{}.*", "model.layers.{:3}.*"}      layers 0, 1 and 2
///     {"sparse.{}.*", "model.layers.{3:}.*"}     from layer 3 on: sparse.0 is model.layers.3
///     {"recurrent.{}.*", "layers.{1::2}.*"}      every other one
///     {"", "model.rotary.inv_freq"}              not asked for
///
/// A third part describes a leaf that is a part of the tensor, or is transposed:
///
///     {"up", "c_fc.weight", os::transposed}                       up[F, M] of the file's [M, F]
///     {"key", "c_attn.weight", os::transposed.chunk(1, 3)}        the second third of its columns
///     {"query", "qkv_proj.weight", os::chunk(0, 12, 8).merge(2)}  query[H, D, M]: the rows of 8 heads of 12
///     {"out", "o_proj.weight", os::transposed.merge(2)}           out[H, D, M] of the file's [M, H·D]
class stored_as {
 public:
  /// A rule: the leaf's name in the tree, its name in the file, and its layout there.
  struct rule {
    std::string_view leaf, file;
    in_tensor how{};
  };

  /// @throws ostraka::error if a text is not a valid pattern, or if the two patterns of a rule differ in their {} or *
  stored_as(std::initializer_list<rule> rules) {
    for (rule const& r : rules) add(r.leaf, r.file, r.how);
  }

  /// Adds a rule after the others.
  stored_as& add(std::string_view leaf, std::string_view file, in_tensor how = {}) {
    rules_.add(leaf, file, how);
    return *this;
  }

  /// Returns the name of a leaf's tensor in a file.
  [[nodiscard]] std::string in_file(std::string_view leaf) const { return rules_.in_file(leaf); }

  /// Returns the name of a tensor's leaf in a tree: the first one if it has several, an empty one if a rule leaves it
  /// out.
  [[nodiscard]] std::string in_tree(std::string_view tensor) const { return rules_.in_tree(tensor).front().name; }

  /// For the library: the rules.
  [[nodiscard]] engine::name_rules const& rules() const { return rules_; }

 private:
  engine::name_rules rules_;
};

}  // namespace ostraka
