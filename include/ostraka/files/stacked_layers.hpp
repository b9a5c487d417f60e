// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Walks trees whose layers may be stacked (os::stacked) as if each layer were an element of a vector. For
/// w[Q, L_Z, I] in `layers` it visits layers.0.w, layers.1.w, …; number q·L + l is the layer at [q, l]. So a file
/// stores single layers for any stacking in the program.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/files/tensors_in_files.hpp>
#include <ostraka/tree/walk.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

/// The first axes of a leaf, which are stacked, and the position of one layer along them.
struct layer_of_stack {
  int axes = 0;
  std::array<std::int64_t, max_rank> extents{};
  std::array<std::int64_t, max_rank> index{};

  /// Advances to the next layer, from axis `first` on, the last axis fastest. @returns whether there is a next one
  [[nodiscard]] bool next(int first) {
    for (int d = axes - 1; d >= first; --d) {
      auto const i = static_cast<std::size_t>(d);
      if (++index[i] < extents[i]) return true;
      index[i] = 0;
    }
    return false;
  }
  [[nodiscard]] bool is_first() const { return index == std::array<std::int64_t, max_rank>{}; }
};

template <class S, class F, class T>
void visit_layers(F& f, path const& at, layer_of_stack const& layer, T& tree);

template <class S, class F, int... Is, class T>
void visit_fields_of_layer(F& f, path const& at, layer_of_stack const& layer, std::integer_sequence<int, Is...>,
                           T& tree) {
  (visit_layers<field_type<S, S, Is>>(f, {&at, field_name<S, Is>, 0}, layer, field_at<S, Is>(tree)), ...);
}

// Visits a tree whose layers may be stacked along more axes than `layer` has.
template <class S, class F, class T>
[[gnu::cold]] void visit_each_layer(F& f, path const& at, layer_of_stack const& layer, T& tree) {
  constexpr std::make_integer_sequence<int, fields_of<S>> fields{};
  if (layer.axes == stacked_axes_in<S>::size) return visit_fields_of_layer<S>(f, at, layer, fields, tree);
  layer_of_stack further = f.template extents_of_stack<S>(at, layer, tree);
  for (int d = layer.axes; d < further.axes; ++d)
    if (further.extents[static_cast<std::size_t>(d)] == 0) return;
  std::int64_t number = 0;
  [[maybe_unused]] std::size_t first_leaf = 0;
  if constexpr (requires { f.next_leaf; }) first_leaf = f.next_leaf;
  do {
    if constexpr (requires { f.next_leaf; }) f.next_leaf = first_leaf;
    visit_fields_of_layer<S>(f, {&at, {}, number++}, further, fields, tree);
  } while (further.next(layer.axes));
}

/// Calls f(path, layer, leaf) for each leaf of each layer, layer by layer, of a tree with the shape S. `f.template
/// extents_of_stack<S>(path, layer, tree)` returns the layers to walk of a tree with stacked layers: `layer` with the
/// extents of its further axes. If f has a member `next_leaf`, the walk counts leaves in it; each layer starts with the
/// same number.
template <class S, class F, class T>
[[gnu::cold]] void visit_layers(F& f, path const& at, layer_of_stack const& layer, T& tree) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf) {
    auto one = [&](path const& here, auto& leaf) { f(here, layer, leaf); };
    visit_leaf(one, at, tree);
  } else if constexpr (kind == node::array || kind == node::vector) {
    for (std::size_t i = 0; i < tree.size(); ++i)
      visit_layers<typename S::value_type>(f, {&at, {}, static_cast<std::int64_t>(i)}, layer, tree[i]);
  } else if constexpr (kind == node::branch) {
    if constexpr (stacked_axes_in<S>::size == 0)
      visit_fields_of_layer<S>(f, at, layer, std::make_integer_sequence<int, fields_of<S>>{}, tree);
    else
      visit_each_layer<S>(f, at, layer, tree);
  }
}

/// Finds the extents of a stack from its first leaf; the other leaves must have the same.
struct finds_stack {
  char const* operation;
  layer_of_stack stack;
  int known = 0;

  template <class A>
  void operator()(path const&, A const& leaf) {
    auto const& a = underlying_tensor(leaf);
    if constexpr (is_tensor<std::remove_cvref_t<decltype(a)>>) {
      for (int d = known; d < stack.axes; ++d)
        stack.extents[static_cast<std::size_t>(d)] = a.extents()[static_cast<std::size_t>(d)];
      known = stack.axes;
      for (int d = 0; d < stack.axes; ++d)
        if (auto const i = static_cast<std::size_t>(d); a.extents()[i] != stack.extents[i])
          throw_error(operation, ": all stacked leaves have the same number of layers, but this one has ",
                      a.extents()[i], " and others have ", stack.extents[i], "; make the tree with os::make_tree");
    }
  }
};

template <class S, class T>
layer_of_stack stack_of_tensors(char const* operation, path const& at, layer_of_stack const& layer, T const& tree) {
  finds_stack find{operation, layer, layer.axes};
  find.stack.axes = stacked_axes_in<S>::size;
  visit<S>(find, at, tree);
  return find.stack;
}

/// The block of one layer.
template <class = void>
[[gnu::cold, gnu::noinline]] engine::file_block block_of_layer(char const* operation, layer_of_stack const& layer,
                                                               tensor_for_file const& a) {
  return engine::part_of(a.block(context_for_file(operation, a), *a.sharding, a.elements), layer.axes,
                         layer.index.data());
}

}  // namespace ostraka::detail
