// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What the leaves of a tree are called in a file, where that is something else than in the tree: a table that
/// serves loading and saving alike.
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

/// Rules, the first of which that fits a name says what it is on the other side: a leaf's name in the tree,
/// `layers.3.query`, and that in the file. Names that none fits are the same on both. In both `{}` is a number, and `*`
/// at the end any rest. Lists that share a range of numbers in the file have slices of it, as Python writes them:
///
///     {"dense.{}.*", "model.layers.{:3}.*"}      layers 0, 1 and 2
///     {"sparse.{}.*", "model.layers.{3:}.*"}     from layer 3 on: sparse.0 is model.layers.3
///     {"recurrent.{}.*", "layers.{1::2}.*"}      every other one
///     {"", "model.rotary.inv_freq"}              not asked for
class stored_as {
 public:
  struct rule {
    std::string_view leaf, file;
  };

  /// @throws ostraka::error if a text is no name of this kind, or the two of a rule differ in their {} or *
  stored_as(std::initializer_list<rule> rules) {
    for (rule const& r : rules) add(r.leaf, r.file);
  }

  /// Another rule, behind those that are there.
  stored_as& add(std::string_view leaf, std::string_view file) {
    rules_.add(leaf, file);
    return *this;
  }

  /// What a leaf is called in a file.
  [[nodiscard]] std::string in_file(std::string_view leaf) const { return rules_.in_file(leaf); }

  /// What a tensor of a file is called in a tree; none if it is left out.
  [[nodiscard]] std::string in_tree(std::string_view tensor) const { return rules_.in_tree(tensor); }

 private:
  engine::name_rules rules_;
};

}  // namespace ostraka
