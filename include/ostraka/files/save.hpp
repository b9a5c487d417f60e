// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::save("model.safetensors", params)` saves a tree of parameters as a safetensors file, `os::save("hub",
/// params, os::in_parts_of(bytes))` as several files with an index, and `os::save("a.npy", A)` saves a tensor as an
/// .npy file. `os::start_save(…)` does the same while the program continues.

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/files/stacked_layers.hpp>
#include <ostraka/files/stored_as.hpp>
#include <ostraka/files/tensors_in_files.hpp>
#include <ostraka/files/together.hpp>
#include <ostraka/tree/walk.hpp>

namespace ostraka {

/// The result of os::in_parts_of.
struct size_of_parts {
  std::int64_t bytes = 0;
};

/// An option of os::save: writes several safetensors files with at most this many bytes of tensors each, and an index,
/// which os::load and other programs read. The path names the index, `hub/model.safetensors.index.json`, or a folder. A
/// larger tensor gets a file of its own; leaves keep their order.
[[nodiscard]] constexpr size_of_parts in_parts_of(std::int64_t bytes) { return {bytes}; }

namespace detail {

/// The tensor of a leaf, under its name in `names` unless that is null.
template <class = void>
[[gnu::cold]] engine::tensor_to_save tensor_to_save(std::string leaf, layer_of_stack const& layer,
                                                    tensor_for_file const& a, stored_as const* names) {
  engine::tensor_to_save t{leaf,
                           engine::describe_axes(context_for_file("save", a), *a.sharding, layer.axes),
                           block_of_layer("save", layer, a),
                           {},
                           {}};
  if (names) t.name = names->in_file(leaf), t.how = names->rules().how(leaf);
  t.leaf = std::move(leaf);
  return t;
}

template <class A>
consteval auto check_leaf_to_save() {
  if constexpr (!is_tensor<A>)
    return found<reason::saved_leaf_is_not_a_tensor<A>>{};
  else
    return found<in_file_verdict<A, operation::save>>{};
}

// The leaves of a tree, and their common mesh.
struct leaves_to_save {
  stored_as const* names = nullptr;
  engine::save_request request{};
  std::shared_ptr<engine::device_mesh const> mesh{};

  template <class A>
  void operator()(path const& at, layer_of_stack const& layer, A const& leaf) {
    auto const& a = underlying_tensor(leaf);
    using type = std::remove_cvref_t<decltype(a)>;
    if constexpr (reason::ok_or_raise<typename decltype(check_leaf_to_save<type>())::type>()) {
      add_leaf(at, layer, for_file(a), a.mesh_handle());
    }
  }

  [[gnu::cold]] void add_leaf(path const& at, layer_of_stack const& layer, tensor_for_file const& a,
                              std::shared_ptr<engine::device_mesh const> const& mesh_of_leaf) {
    request.tensors.push_back(tensor_to_save(name_in_file(at), layer, a, names));
    if (mesh && mesh != mesh_of_leaf)
      throw_error("save: all leaves of a tree live on one mesh, but these live on two; save a tree for each mesh");
    mesh = mesh_of_leaf;
  }

  template <class S, class T>
  layer_of_stack extents_of_stack(path const& at, layer_of_stack const& layer, T const& tree) {
    return stack_of_tensors<S>("save", at, layer, tree);
  }

  template <class T>
  void add([[maybe_unused]] T const& tree, [[maybe_unused]] path const& at) {
    if constexpr (TensorOrVariable<T>) {
      (*this)(at, {}, tree);
    } else if constexpr (reason::ok_or_raise<trees_verdict<T>>()) {
      visit_layers<shape_of<T>>(*this, at, {}, tree);
    }
  }

  // A tree, or several trees and tensors together.
  template <class T>
  void add(T const& trees) {
    if constexpr (are_together<T>)
      trees.for_each([&](auto const& tree, path const& at) { add(tree, at); });
    else
      add(trees, path{});
    if (!mesh)
      throw_error("save: a tree to save has at least one leaf, but this one has none; make it with os::make_tree");
  }

  void set(stored_as const& rules) { names = &rules; }
  void set(size_of_parts most) {
    if (most.bytes < 1)
      throw_error("save: parts have at least one byte, but os::in_parts_of(", most.bytes,
                  ") asks for less; give the bytes that a part has at most");
    request.part_bytes = most.bytes;
  }
};

template <class T, class... Option>
leaves_to_save leaves_of(std::string const& path, T const& trees, Option const&... option) {
  leaves_to_save leaves;
  leaves.request.path = path;
  (leaves.set(option), ...);
  leaves.add(trees);
  return leaves;
}

template <class A>
engine::save_request request_of_tensor(std::string const& path, A const& a) {
  common_mesh("save", a);
  return {path, engine::file_format::npy, {tensor_to_save("", {}, for_file(a), nullptr)}};
}

template <class T>
inline constexpr bool is_save_option = std::is_same_v<T, stored_as> || std::is_same_v<T, size_of_parts>;

template <class T>
concept TreeOrTrees = Tree<T> || are_together<T>;

}  // namespace detail

/// Saves a tensor as an .npy file, as numpy.save does. Each device writes its block; if several devices hold the same
/// block, one of them writes it. The file gets its name, and replaces an older one, when all of it is on the disk.
/// Collective over the mesh.
/// @throws ostraka::error, on all devices alike; an older file is then unchanged
template <TensorOrVariable A>
void save(std::string const& path, A const& given) {
  [[maybe_unused]] auto const& a = detail::underlying_tensor(given);
  if constexpr (reason::ok_or_raise<detail::in_file_verdict<A, operation::save>>())
    engine::save_tensors(*a.mesh_handle(), detail::request_of_tensor(path, a));
}

/// Saves the leaves of a tree, or of several trees together (os::together), as a safetensors file under their paths,
/// such as `layers.3.w1`. Saves the values of variables, and no fields that are not leaves. The file also records the
/// axes' names and shardings. Options follow the tree: os::stored_as sets the leaves' names in the file, and
/// os::in_parts_of makes several files. Collective over the mesh, and atomic, as above.
/// @throws ostraka::error, on all devices alike; an older file is then unchanged
template <detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void save(std::string const& path, T const& trees, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  engine::save_tensors(*leaves.mesh, leaves.request);
}

/// Saves the leaves under other names, from a braced list: os::save(path, tree, {{"w", "model.weight"}}).
template <detail::TreeOrTrees T>
void save(std::string const& path, T const& trees, stored_as const& names) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, names);
  engine::save_tensors(*leaves.mesh, leaves.request);
}

/// Reports an argument that is neither a tensor nor a tree.
template <class T>
  requires(!TensorOrVariable<T> && !detail::TreeOrTrees<T>)
void save(std::string const&, T const&) { reason::raise<reason::not_a_tree<T>>(); }

}  // namespace ostraka
