// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::load<mlp>("model.safetensors", mesh)`: a tree of parameters from a safetensors file;
/// `os::load<float, I/X, J>("a.npy", mesh)`: a tensor from an .npy file; `os::load_into(params, "model.safetensors")`:
/// into what is there. The file says the extents; how its tensors were divided when they were saved does not matter.

#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/files/load_tree.hpp>
#include <ostraka/files/together.hpp>

namespace ostraka {

/// A tree of tensors from a safetensors file that has a tensor for each leaf and no others, or with os::ignore_others
/// among the arguments also others. The path may also be that of an index, `model.safetensors.index.json`, whose parts
/// stand beside it, or of a folder that has either. os::stored_as, or a function of a tensor's name in the file, says
/// what leaves are called there; os::cast_to<float> converts floating-point numbers. The file says the extents; those
/// that are given as well, by name or in an os::sizes, have to be the file's. Vectors are as long as the file has
/// elements of them. Each device reads its blocks and nothing else; one of them reads the header. Collective over the
/// mesh.
/// @throws ostraka::error, on all devices alike, before anything is made if the file is not there, malformed, or has
/// other names, elements or extents, or the axes of a tensor in another order
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

/// The same of a struct's name alone: `os::load<mlp>("model.safetensors", mesh)`.
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

// A tensor of a file: the one that ask(file, request) finds.
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

/// A tensor from an .npy file, of any version, order of bytes and order of its dimensions. As above.
template <class T, auto... Dims, class Mesh, class... Given>
  requires(!Tree<T>)
[[nodiscard]] auto load([[maybe_unused]] std::string const& path, [[maybe_unused]] Mesh const& m,
                        [[maybe_unused]] Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  if constexpr (reason::ok_or_raise<detail::load_tensor_verdict<tensor_type, Mesh, Given...>>()) {
    return detail::load_tensor<tensor_type>(
        path, m, engine::file_format::npy,
        [](detail::loading& file, engine::tensor_to_load wanted) { return file.ask(std::move(wanted)); }, given...);
  } else {
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Into the tensors of a tree that is there, or of several, os::together, whose elements and extents have to be the
/// file's; options stand behind the path, os::ignore_others if the file may have others, too. Whatever is wrong is
/// found before any of them is written to, unless reading itself fails.
template <Tree T, class... Option>
  requires(detail::is_load_option<Option>&&...)
void load_into(T const& tree, std::string const& path, Option const&... option) {
  if constexpr (reason::ok_or_raise<detail::load_options_verdict<Option...>>())
    detail::load_into_trees([&](auto const& f) { f(tree, detail::path{}); }, path, detail::load_options_in(option...));
}

template <class... Trees, class... Option>
  requires(detail::is_load_option<Option>&&...)
void load_into(trees_together<Trees...> const& trees, std::string const& path, Option const&... option) {
  if constexpr (reason::ok_or_raise<detail::load_options_verdict<Option...>>())
    detail::load_into_trees([&](auto const& f) { trees.for_each(f); }, path, detail::load_options_in(option...));
}

/// Into a tensor that is there.
template <Tensor A, class... Us>
void load_into([[maybe_unused]] A const& a, [[maybe_unused]] std::string const& path,
               [[maybe_unused]] elements_cast<Us> const&... option) {
  using verdict = detail::first_fault<detail::writable_verdict<A>, detail::in_file_verdict<A, operation::load>,
                                      detail::load_options_verdict<elements_cast<Us>...>>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    detail::loading file("load_into", path, engine::file_format::npy, detail::common_mesh("load_into", a),
                         detail::load_options_in(option...));
    file.ask(detail::tensor_as_it_is("", a));
    file.into(detail::for_file(a));
    file.read();
  }
}

}  // namespace ostraka
