// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::load<mlp>("model.safetensors", mesh)` loads a tree of parameters from a safetensors file,
/// `os::load<float, I/X, J>("a.npy", mesh)` loads a tensor from an .npy file, and `os::load_into(params,
/// "model.safetensors")` fills existing tensors. The file gives the extents. The sharding at the time of saving does
/// not matter.

#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/files/load_tree.hpp>
#include <ostraka/files/together.hpp>

namespace ostraka {

/// Loads a tree of tensors from a safetensors file. The file must have a tensor for each leaf and no others;
/// os::ignore_others among the arguments allows others. The path may also name an index,
/// `model.safetensors.index.json`, whose parts are in the same folder, or a folder that has either. os::stored_as, or a
/// function of a tensor's name in the file, gives the leaves' names there; os::cast_to<float> converts floating-point
/// numbers. The file gives the extents; extents given in the call, by name or in an os::sizes, must equal the file's. A
/// vector gets the length that it has in the file. Each device reads its own blocks only; one device reads the header.
/// Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before anything is made, if the file is missing or malformed, if it
/// has other names, elements or extents, or if it has a tensor's axes in another order
template <Tree T, class Mesh, class... Given>
[[nodiscard]] auto load(std::string const& path, Mesh const& m, Given const&... given) {
  using out = detail::tree_with<T, detail::made_leaves<T>>;
  if constexpr (reason::ok_or_raise<
                    detail::first_fault<detail::mesh_verdict<Mesh, type_list<>>, detail::trees_verdict<out>,
                                        detail::load_options_verdict<Given...>>>())
    return detail::load_tree<out>(path, m, given...);
  else
    return out{};
}

/// The same, by the name of the struct template: `os::load<mlp>("model.safetensors", mesh)`.
template <template <class, class...> class T, class Mesh, class... Given>
[[nodiscard]] auto load(std::string const& path, Mesh const& m, Given const&... given) {
  return load<T<names>>(path, m, given...);
}

namespace detail {

template <class TensorType, class Mesh, class... Given>
using load_tensor_verdict =
    first_fault<loaded_verdict<TensorType, Mesh>, load_options_verdict<Given...>,
                typename decltype(check_given<typename TensorType::axes,
                                              given_beside<is_cast_to<Given>, Given>>())::type...>;

// Loads one tensor of a file: the one that ask(file, request) finds.
template <class TensorType, class Mesh, class Ask, class... Given>
TensorType load_tensor(std::string const& path, Mesh const& m, engine::file_format format, Ask const& ask,
                       Given const&... given) {
  using axes = typename TensorType::axes;
  engine::require_not_ended("load");
  loading file("load", path, format, m.handle(), load_options_in(given...));
  constexpr auto type = type_in_file<typename TensorType::value_type>(axes{});
  auto const wanted = wanted_extents(axes{}, collect_sizes(extents_beside<is_load_option<Given>>(given)...));
  auto const* const found = ask(file, tensor_to_load("", type, wanted.data()));
  auto a = allocate_loaded<TensorType>(m.handle(), found->extents);
  file.into(for_file(a));
  file.read();
  return a;
}

}  // namespace detail

/// Loads a tensor from an .npy file of any version, byte order and dimension order. Everything else is as above.
template <class T, auto... Dims, class Mesh, class... Given>
  requires(!Tree<T>)
[[nodiscard]] auto load([[maybe_unused]] std::string const& path, [[maybe_unused]] Mesh const& m,
                        [[maybe_unused]] Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  if constexpr (reason::ok_or_raise<detail::load_tensor_verdict<tensor_type, Mesh, Given...>>()) {
    return detail::load_tensor<tensor_type>(
        path, m, engine::file_format::npy,
        [](detail::loading& file, engine::tensor_to_load wanted) {
          file.require_same_request(
              [&] { return join_text("an array of the extents ", engine::detail::describe_extents(wanted.extents)); });
          engine::tensor_in_file const* found = nullptr;
          file.request([&] { found = file.ask(std::move(wanted)); });
          return found;
        },
        given...);
  } else {
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Loads a file into an existing tree, or into several (os::together). Elements and extents must equal the file's.
/// Options follow the path: os::ignore_others allows further tensors in the file. Every error is found before any
/// tensor is written to, except a failure of the read itself.
template <Tree T, class... Option>
  requires(detail::is_load_option<Option>&&...)
void load_into(T const& tree, std::string const& path, Option const&... option) {
  if constexpr (reason::ok_or_raise<detail::load_options_verdict<Option...>>())
    detail::load_into_trees([&](auto const& f) { f(tree, detail::path{}); }, path, detail::load_options_in(option...));
}

template <class... Trees, class... Option>
  requires(detail::is_load_option<Option>&&...)
void load_into(named_trees<Trees...> const& trees, std::string const& path, Option const&... option) {
  if constexpr (reason::ok_or_raise<detail::load_options_verdict<Option...>>())
    detail::load_into_trees([&](auto const& f) { trees.for_each(f); }, path, detail::load_options_in(option...));
}

/// Loads a file into an existing tensor.
template <Tensor A, class... Us>
void load_into([[maybe_unused]] A const& a, [[maybe_unused]] std::string const& path,
               [[maybe_unused]] elements_cast<Us> const&... option) {
  using verdict = detail::first_fault<detail::writable_verdict<A>, detail::in_file_verdict<A, operation::load>,
                                      detail::load_options_verdict<elements_cast<Us>...>>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    detail::loading file("load_into", path, engine::file_format::npy, detail::common_mesh("load_into", a),
                         detail::load_options_in(option...));
    file.request([&] { file.ask(detail::request_for_existing("", a)); });
    file.into(detail::for_file(a));
    file.read();
  }
}

}  // namespace ostraka
