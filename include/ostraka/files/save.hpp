// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::save("model.safetensors", params)`: a tree of parameters into a safetensors file;
/// `os::save("a.npy", A)`: a tensor into an .npy file.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/files/stacked_layers.hpp>
#include <ostraka/files/stored_as.hpp>
#include <ostraka/files/tensors_in_files.hpp>
#include <ostraka/files/together.hpp>
#include <ostraka/tree/walk.hpp>

namespace ostraka {

namespace detail {

template <class A>
engine::tensor_to_save tensor_to_save(std::string name, layer_of_stack const& layer, A const& a) {
  engine::execution_context const w = context_of<axes_in<A>, mesh_axes_in<A>>("save", a);
  return {std::move(name), engine::describe_axes(w, spec_of<A, axes_in<A>, mesh_axes_in<A>>, layer.axes),
          block_of_layer("save", layer, a)};
}

template <class A>
consteval auto check_leaf_to_save() {
  if constexpr (!is_tensor<A>)
    return found<reason::leaf_is_no_tensor_to_save<A>>{};
  else
    return found<first_fault<in_file_verdict<A, operation::save>, in_safetensors_verdict<typename A::value_type>>>{};
}

// The leaves of a tree, and the mesh that they have in common.
struct leaves_to_save {
  stored_as const* names = nullptr;
  std::vector<engine::tensor_to_save> tensors{};
  std::shared_ptr<engine::device_mesh const> mesh{};

  template <class A>
  void operator()(path const& at, layer_of_stack const& layer, A const& leaf) {
    auto const& a = tensor_behind(leaf);
    using type = std::remove_cvref_t<decltype(a)>;
    if constexpr (reason::ok_or_raise<typename decltype(check_leaf_to_save<type>())::type>()) {
      std::string name = name_in_file(at);
      if (names && !names->rules().is_whole(name))
        throw_error("save: the leaf ", name, " is a part of ", names->in_file(name),
                    ", or lies otherwise in it, and is loaded from there, not saved; save it by a rule without a third "
                    "part");
      tensors.push_back(tensor_to_save(names ? names->in_file(name) : std::move(name), layer, a));
      if (mesh && mesh != a.mesh_handle())
        throw_error("save: the leaves of a tree live on one mesh, and these live on two; save a tree for each mesh");
      mesh = a.mesh_handle();
    }
  }

  template <class S, class T>
  layer_of_stack extents_of_stack(path const& at, layer_of_stack const& layer, T const& tree) {
    return stack_of_tensors<S>("save", at, layer, tree);
  }

  template <class T>
  void add([[maybe_unused]] T const& tree, [[maybe_unused]] path const& at) {
    if constexpr (reason::ok_or_raise<trees_verdict<T>>()) visit_layers<shape_of<T>>(*this, at, {}, tree);
  }

  void save(std::string const& file) const {
    if (!mesh) throw_error("save: a tree that is saved has a leaf at least; make it with os::make_tree");
    engine::save_tensors(*mesh, file, engine::file_format::safetensors, tensors);
  }
};

}  // namespace detail

/// All elements of a tensor in an .npy file, as numpy.save writes them. Each device writes its block, of those that
/// repeat one a single device. Collective over the mesh. The file gets its name when all of it is on the disk; a file
/// that was there is replaced then.
/// @throws ostraka::error, on all devices alike, and then what was there is as it was
template <TensorOrVariable A>
void save(std::string const& path, A const& given) {
  [[maybe_unused]] auto const& a = detail::tensor_behind(given);
  if constexpr (reason::ok_or_raise<detail::in_file_verdict<A, operation::save>>()) {
    detail::common_mesh("save", a);
    engine::save_tensors(*a.mesh_handle(), path, engine::file_format::npy, {detail::tensor_to_save("", {}, a)});
  }
}

/// The leaves of a tree in a safetensors file, by their paths: `layers.3.w1`; of variables their values. Fields that
/// are no leaves are not saved. The file also says what the axes are called and how they were divided. Collective over
/// the mesh, and atomic, as above. @throws ostraka::error, on all devices alike, and then what was there is as it was
template <Tree T>
void save(std::string const& path, T const& tree) {
  detail::leaves_to_save leaves;
  leaves.add(tree, detail::path{});
  leaves.save(path);
}

/// The same under the names that `names` gives the leaves.
template <Tree T>
void save(std::string const& path, T const& tree, stored_as const& names) {
  detail::leaves_to_save leaves{&names};
  leaves.add(tree, detail::path{});
  leaves.save(path);
}

/// The same of several trees, each under its name: os::together.
template <class... Trees>
void save(std::string const& path, trees_together<Trees...> const& trees) {
  detail::leaves_to_save leaves;
  trees.for_each([&](auto const& tree, detail::path const& at) { leaves.add(tree, at); });
  leaves.save(path);
}

template <class... Trees>
void save(std::string const& path, trees_together<Trees...> const& trees, stored_as const& names) {
  detail::leaves_to_save leaves{&names};
  trees.for_each([&](auto const& tree, detail::path const& at) { leaves.add(tree, at); });
  leaves.save(path);
}

/// Says that it is neither.
template <class T>
  requires(!TensorOrVariable<T> && !Tree<T> && !detail::are_together<T>)
void save(std::string const&, T const&) { reason::raise<reason::not_a_tree<T>>(); }

}  // namespace ostraka
