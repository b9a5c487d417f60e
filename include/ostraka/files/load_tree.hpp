// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Reads a tree from a file. Requests its leaves by name, layer by layer; the file gives the extents and the
/// number of layers. If the file has all requested tensors, allocates the blocks and reads them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/files/load_options.hpp>
#include <ostraka/files/loading.hpp>
#include <ostraka/files/stacked_layers.hpp>
#include <ostraka/files/tensors_in_files.hpp>
#include <ostraka/tree/make_tree.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

// The extent of an axis if it is known before the file is read, else −1.
template <class A, class Sizes>
std::int64_t wanted_extent([[maybe_unused]] Sizes const& given) {
  if constexpr (position_in<A, typename Sizes::names> >= 0)
    return checked_extent<false, A>(given, "load");
  else
    return A::extent == dynamic_extent ? -1 : A::extent;
}

// The extents of all of these axes; −1 where the file gives them.
template <class... As, class Sizes>
std::array<std::int64_t, sizeof...(As)> wanted_extents(type_list<As...>, Sizes const& given) {
  return {wanted_extent<As>(given)...};
}

// How a file stores tensors of one type.
struct tensors_of_type {
  engine::file_element element;
  std::string_view const* axes;
  int rank;
};

template <class... As>
inline constexpr std::string_view names_in_file[] = {std::string_view(As::name)..., {}};

template <class T, class... As>
constexpr tensors_of_type type_in_file(type_list<As...>) {
  return {engine::file_element_of<T>, names_in_file<As...>, static_cast<int>(sizeof...(As))};
}

// The request for a tensor with these extents, or for one of its layers if layers are stacked along its first axes.
[[gnu::cold]] inline engine::tensor_to_load tensor_to_load(std::string name, tensors_of_type const& type,
                                                           std::int64_t const* extents, int stacked = 0) {
  return {std::move(name),
          type.element,
          {type.axes + stacked, type.axes + type.rank},
          {extents + stacked, extents + type.rank}};
}

// The request for a tensor that already exists.
template <class A>
engine::tensor_to_load request_for_existing(std::string name, A const& a, layer_of_stack const& layer = {}) {
  constexpr tensors_of_type type = type_in_file<typename A::value_type>(axes_in<A>{});
  return tensor_to_load(std::move(name), type, a.extents().data(), layer.axes);
}

template <class TensorType>
TensorType allocate_loaded(std::shared_ptr<engine::device_mesh const> const& mesh,
                           std::vector<std::int64_t> const& found) {
  typename TensorType::extents_type extents{};
  for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = found[i];  // memmove of nothing warns of nullptr
  return allocate<TensorType>(mesh, extents);
}

template <class TensorType, class Mesh>
using loaded_verdict = first_fault<tensor_verdict<typename TensorType::value_type, typename TensorType::sharding_type>,
                                   writable_verdict<TensorType>, in_file_verdict<TensorType, operation::load>,
                                   mesh_verdict<Mesh, typename TensorType::mesh_axes>>;

// The number of elements that a vector of this name has in the file. A number above that of the file's tensors is
// refused before anything is made.
template <class = void>
std::size_t elements_in_file(loading const& file, std::string const& name) {
  std::string const begin = join_text(name, name.empty() ? "" : ".");
  auto const of_vector = engine::tensors_beginning_with(file.contents(), begin);
  std::size_t count = 0;
  for (engine::tensor_in_file const& t : of_vector) {
    std::size_t const number = engine::leading_index(std::string_view(t.name).substr(begin.size()));
    if (number == engine::no_index) continue;
    if (number >= of_vector.size())
      file.fail(join_text("has ", t.name, " and no more than ", of_vector.size(), " tensors",
                          name.empty() ? "" : join_text(" of ", name),
                          "; give a file of this tree, whose elements are numbered from 0"));
    count = std::max(count, number + 1);
  }
  return count;
}

template <class S, int Stacked>
void fit_vectors(S& shape, path const& at, loading const& file);

template <class S, int Stacked, int... Is>
void fit_fields(S& shape, path const& at, loading const& file, std::integer_sequence<int, Is...>) {
  (fit_vectors<field_type<S, S, Is>, Stacked>(field_at<S, Is>(shape), {&at, field_name<S, Is>, 0}, file), ...);
}

// Gives the vectors of a tree of names the lengths in the file; for stacked layers, those of the first layer.
template <class S, int Stacked = 0>
void fit_vectors([[maybe_unused]] S& shape, [[maybe_unused]] path const& at, [[maybe_unused]] loading const& file) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::vector) shape.resize(elements_in_file(file, name_in_file(at)));
  if constexpr (kind == node::vector || kind == node::array) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      fit_vectors<typename S::value_type, Stacked>(shape[i], {&at, {}, static_cast<std::int64_t>(i)}, file);
  } else if constexpr (kind == node::branch) {
    constexpr std::make_integer_sequence<int, fields_of<S>> fields{};
    constexpr int stacked = stacked_axes_in<S>::size;
    path const first{&at, {}, 0};
    fit_fields<S, stacked>(shape, stacked > Stacked ? first : at, file, fields);
  }
}

// For layers stacked along two or more axes, at most one extent may be unknown before the file is read.
inline void fit_stack(loading const& file, std::string const& name, std::int64_t layers, layer_of_stack& stack,
                      int first) {
  std::int64_t known = 1;
  int unknown = -1;
  bool fits = true;
  for (int d = first; d < stack.axes; ++d) {
    if (std::int64_t const n = stack.extents[static_cast<std::size_t>(d)]; n >= 0)
      known *= n;
    else if (unknown >= 0)
      fits = false;
    else
      unknown = d;
  }
  if (fits && unknown >= 0) {
    fits = known > 0 && layers % known == 0;
    if (fits) stack.extents[static_cast<std::size_t>(unknown)] = layers / known;
  } else if (fits) {
    fits = known == layers;
  }
  if (!fits)
    file.fail(join_text("has ", layers, " layers", name.empty() ? "" : join_text(" of ", name),
                        ", which are to be stacked along ", stack.axes - first,
                        " axes; give the extents of all of these but one, whose product divides that number"));
}

// Requests leaf number `leaf`, with the extents found for an earlier layer, or else with the given ones.
template <class = void>
[[gnu::cold, gnu::noinline]] void ask_for_leaf(loading& file, path const& at, layer_of_stack const& layer,
                                               tensors_of_type const& type, std::int64_t const* wanted,
                                               std::vector<std::vector<std::int64_t>>& extents, std::size_t leaf) {
  bool const known = leaf < extents.size();
  auto const* const found =
      file.ask(tensor_to_load(name_in_file(at), type, known ? extents[leaf].data() : wanted, layer.axes));
  if (known) return;
  if (found == nullptr) return static_cast<void>(extents.emplace_back(wanted, wanted + type.rank));
  extents.emplace_back(layer.extents.begin(), layer.extents.begin() + layer.axes);
  extents.back().insert(extents.back().end(), found->extents.begin(), found->extents.end());
}

// Requests the tensors of a new tree. The number of names in the file gives the number of layers of a stack. `extents`:
// the leaves' extents, in the order of their fields.
template <class Leaves, class Mesh, class Sizes>
struct asks_for_leaf {
  loading& file;
  Sizes const& given;
  std::vector<std::vector<std::int64_t>>& extents;
  std::vector<std::int64_t> stacks{};  // the extents of all stacks
  std::size_t next_leaf = 0;

  template <class T, class Sharding>
  void operator()(path const& at, layer_of_stack const& layer, leaf_name<T, Sharding> const&) {
    using tensor_type = typename Leaves::template leaf<T, Sharding>;
    using value = typename tensor_type::value_type;
    using axes = axes_in<tensor_type>;
    if constexpr (reason::ok_or_raise<loaded_verdict<tensor_type, Mesh>>()) {
      constexpr tensors_of_type type = type_in_file<value>(axes{});
      ask_for_leaf(file, at, layer, type, wanted_extents(axes{}, given).data(), extents, next_leaf);
    }
    ++next_leaf;
  }

  template <class S, class Shape>
  layer_of_stack extents_of_stack(path const& at, layer_of_stack const& layer, Shape const& shape) {
    std::string const name = name_in_file(at);
    auto const layers = static_cast<std::int64_t>(elements_in_file(file, name));
    auto const wanted = wanted_extents(stacked_axes_in<S>{}, given);
    layer_of_stack stack = layer;
    stack.axes = stacked_axes_in<S>::size;
    for (int d = layer.axes; d < stack.axes; ++d)
      stack.extents[static_cast<std::size_t>(d)] = wanted[static_cast<std::size_t>(d)];
    fit_stack(file, name, layers, stack, layer.axes);
    stacks.insert(stacks.end(), stack.extents.begin(), stack.extents.begin() + stack.axes);
    if (layers == 0) ask_without_layers<S>(at, stack, shape);
    return stack;
  }

  // Without layers in the file, no layer gives the extents of the leaves.
  template <class S, class Shape>
  void ask_without_layers(path const& at, layer_of_stack const& stack, Shape const& shape) {
    auto without = [&]<class T, class Sharding>(path const& here, leaf_name<T, Sharding> const&) {
      auto const known = wanted_extents(axes_in<typename Leaves::template leaf<T, Sharding>>{}, given);
      std::vector<std::int64_t> wanted(known.begin(), known.end());
      std::copy(stack.extents.begin(), stack.extents.begin() + stack.axes, wanted.begin());
      if (std::find(wanted.begin(), wanted.end(), -1) != wanted.end())
        file.fail(join_text("has no layers of ", name_in_file(here), ", which would say its extents; give them"));
      if (next_leaf++ == extents.size()) extents.push_back(std::move(wanted));
    };
    visit<S>(without, at, shape);
  }
};

template <class Leaves>
struct makes_leaf {
  loading const& file;
  std::vector<std::vector<std::int64_t>> const& extents;
  std::size_t next_leaf = 0;

  template <class T, class Sharding>
  auto operator()(path const&, leaf_name<T, Sharding> const&) {
    return allocate_loaded<typename Leaves::template leaf<T, Sharding>>(file.mesh(), extents[next_leaf++]);
  }
};

struct asks_for_tensor {
  loading& file;

  template <class A>
  void operator()(path const& at, layer_of_stack const& layer, A const& a) const {
    if constexpr (reason::ok_or_raise<first_fault<writable_verdict<A>, in_file_verdict<A, operation::load>>>())
      ask(at, layer, a);
  }

  template <class A>
  void ask(path const& at, layer_of_stack const& layer, A const& a) const {
    if (common_mesh("load_into", a) != file.mesh())
      throw_error("load_into: all leaves of a tree live on one mesh, but these live on two; load a tree for each mesh");
    file.ask(request_for_existing(name_in_file(at), a, layer));
  }

  template <class S, class T>
  layer_of_stack extents_of_stack(path const& at, layer_of_stack const& layer, T const& tree) const {
    return stack_of_tensors<S>("load_into", at, layer, tree);
  }
};

// Provides the places to read into, in the order of the requests.
struct fills_tensor {
  loading& file;

  template <class A>
  void operator()(path const&, layer_of_stack const& layer, A const& a) const {
    file.into(for_file(a), layer);
  }

  template <class S, class T>
  layer_of_stack extents_of_stack(path const& at, layer_of_stack const& layer, T const& tree) const {
    return stack_of_tensors<S>("load", at, layer, tree);
  }
};

struct finds_mesh {
  std::shared_ptr<engine::device_mesh const> mesh{};

  template <class A>
  void operator()(path const&, A const& a) {
    if (!mesh) mesh = common_mesh("load_into", a);
  }
};

template <class Out, class Mesh, class... Given>
Out load_tree(std::string const& path_of_file, Mesh const& m, Given const&... given) {
  using leaves = leaves_in<Out>;
  using shape_type = shape_of<Out>;
  engine::require_not_ended("load");
  auto const sizes = collect_sizes(extents_beside<is_load_option<Given>>(given)...);
  loading file("load", path_of_file, engine::file_format::safetensors, m.handle(), load_options_in(given...));
  shape_type shape{};
  std::vector<std::vector<std::int64_t>> extents;
  asks_for_leaf<leaves, Mesh, std::remove_cvref_t<decltype(sizes)>> ask{file, sizes, extents};
  file.request([&] {
    fit_vectors<shape_type>(shape, path{}, file);
    visit_layers<shape_type>(ask, path{}, {}, shape);
    file.require_complete();
  });
  if (!ask.stacks.empty())
    file.require_same_request([&] {
      return join_text("layers stacked along axes of the extents ", engine::detail::describe_extents(ask.stacks));
    });
  makes_leaf<leaves> make{file, extents};
  Out out = make_node<shape_type, Out>(make, path{}, shape);
  fills_tensor fill{file};
  visit_layers<shape_type>(fill, path{}, {}, out);
  file.read();
  return out;
}

// `walk(f)` calls f(tree, path of its root) for each tree.
template <class Walk>
void load_into_trees(Walk const& walk, std::string const& path_of_file, load_options const& options) {
  finds_mesh find;
  walk([&]<class T>(T& tree, path const& at) {
    if constexpr (Tensor<std::remove_const_t<T>>)
      find(at, tree);
    else if constexpr (reason::ok_or_raise<trees_verdict<T>>())
      visit<shape_of<T>>(find, at, tree);
  });
  if (!find.mesh)
    throw_error("load_into: a tree to load has at least one leaf, but this one has none; make it with os::make_tree");
  loading file("load_into", path_of_file, engine::file_format::safetensors, find.mesh, options);
  auto const visit_all = [&](auto& f) {
    walk([&]<class T>(T& tree, path const& at) {
      if constexpr (Tensor<std::remove_const_t<T>>)
        f(at, {}, tree);
      else if constexpr (reason::ok_or_raise<trees_verdict<T>>())
        visit_layers<shape_of<T>>(f, at, {}, tree);
    });
  };
  file.request([&] {
    asks_for_tensor ask{file};
    visit_all(ask);
    file.require_complete();
  });
  fills_tensor fill{file};
  visit_all(fill);
  file.read();
}

}  // namespace detail

}  // namespace ostraka
