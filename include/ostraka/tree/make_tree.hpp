// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Trees of new tensors: `os::make_tree<mlp>(mesh, sizes)` makes zeros, `os::make_tree<mlp>(mesh, sizes,
/// os::seed(1))` random numbers, different in each leaf, and `os::make_tree<mlp>(mesh, sizes, f)` the tensors that f
/// makes:
///
///     auto params = os::make_tree<mlp>(mesh, sizes, os::seed(1), [](auto const& leaf) {
///       using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
///       if (leaf.path() == "b1") return os::zeros<tensor>(leaf.mesh(), leaf.sizes());
///       return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
///     });

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/creation/random.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/tree/walk.hpp>

namespace ostraka {

namespace detail {

// FNV-1a over the path, and splitmix64's mixing of that with the seed.
constexpr std::uint64_t seed_of_path(std::uint64_t seed, std::string_view path) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : path) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::uint64_t z = seed + 0x9e3779b97f4a7c15u * (h | 1u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace detail

/// The description of a leaf to be made; initialisers are called with it.
template <class TensorType, class Mesh, class Sizes>
class leaf_to_make {
 public:
  using type = TensorType;                       ///< the type that the initialiser has to return
  static constexpr int rank = TensorType::rank;  ///< the number of its axes

  leaf_to_make(Mesh const& mesh, Sizes const& sizes, ostraka::seed seed, std::string path)
      : mesh_(mesh), sizes_(sizes), seed_(seed), path_(std::move(path)) {}

  /// The mesh of the tree.
  [[nodiscard]] Mesh const& mesh() const { return mesh_; }

  /// The extents given to os::make_tree.
  [[nodiscard]] Sizes const& sizes() const { return sizes_; }

  /// The leaf's place in the tree: `layers[3].w1`.
  [[nodiscard]] std::string const& path() const { return path_; }

  /// The tree's seed and the path combined, so that no two leaves have the same numbers, and a leaf's numbers do not
  /// depend on the rest of the tree.
  [[nodiscard]] ostraka::seed seed() const { return ostraka::seed(detail::seed_of_path(seed_.value, path_)); }

 private:
  Mesh const& mesh_;
  Sizes const& sizes_;
  ostraka::seed seed_;
  std::string path_;
};

namespace detail {

struct make_zeros {
  template <class Leaf>
  auto operator()(Leaf const& leaf) const {
    return zeros<typename Leaf::type>(leaf.mesh(), leaf.sizes());
  }
};

struct make_random {
  template <class Leaf>
  auto operator()(Leaf const& leaf) const {
    return random<typename Leaf::type>(leaf.mesh(), leaf.sizes(), leaf.seed());
  }
};

template <class T>
inline constexpr bool is_extents_or_seed = names_extents<T> || std::is_same_v<T, seed>;

template <class T>
inline constexpr bool is_seed = std::is_same_v<T, seed>;

// Makes the leaf of Leaves for a name of the shape.
template <class Leaves, class Mesh, class Sizes, class F>
struct leaf_maker {
  Mesh const& mesh;
  Sizes const& sizes;
  seed from;
  F const& f;

  template <class T, class Sharding>
  auto operator()(path const& at, leaf_name<T, Sharding> const&) const {
    using tensor_type = typename Leaves::template leaf<T, Sharding>;
    return f(leaf_to_make<tensor_type, Mesh, Sizes>(mesh, sizes, from, at.text()));
  }
};

// Names in leaves become tensors in default memory.
template <class T>
using made_leaves = std::conditional_t<std::is_same_v<leaves_in<T>, names>, values, leaves_in<T>>;

template <class Out, class Shape, class Mesh, class F, class... Given>
Out make_tree_with(Shape const& shape, Mesh const& m, F const& f, Given const&... given) {
  auto const sizes = collect_sizes(extents_beside<is_seed<Given>>(given)...);
  leaf_maker<leaves_in<Out>, Mesh, std::remove_cvref_t<decltype(sizes)>, F> make{m, sizes,
                                                                                 option_among(seed(0), given...), f};
  return make_node<Shape, Out>(make, path{}, shape);
}

template <class Out, class Shape, class Mesh, class Arguments, std::size_t... Is>
Out make_tree_from(Shape const& shape, Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  return make_tree_with<Out>(shape, m, std::get<sizeof...(Is)>(arguments), std::get<Is>(arguments)...);
}

template <class Out, class Shape, class Mesh, class... Given>
Out make_tree_of(Shape const& shape, Mesh const& m, Given const&... given) {
  if constexpr (!is_extents_or_seed<last_of<Given...>>)
    return make_tree_from<Out>(shape, m, std::forward_as_tuple(given...),
                               std::make_index_sequence<sizeof...(Given) - 1>{});
  else if constexpr ((is_seed<Given> || ...))
    return make_tree_with<Out>(shape, m, make_random{}, given...);
  else
    return make_tree_with<Out>(shape, m, make_zeros{}, given...);
}

}  // namespace detail

/// Makes the tree `T`, with tensors where T has names, leaf by leaf in the order of the fields. Takes extents by name,
/// written out or in an os::sizes, which may also hold extents that only some leaves need; then optionally an os::seed;
/// last, optionally, a function of os::leaf_to_make that makes a leaf. Without one, makes zeros, or random numbers as
/// os::random does if there is a seed. Vectors are as long as in a default-constructed T.
/// @throws ostraka::error as os::zeros does, naming the leaf
template <Tree T, class Mesh, class... Given>
[[nodiscard]] auto make_tree(Mesh const& m, Given const&... given) {
  using out = detail::tree_with<T, detail::made_leaves<T>>;
  if constexpr (reason::ok_or_raise<detail::trees_verdict<out>>())
    return detail::make_tree_of<out>(detail::shape_of<T>{}, m, given...);
  else
    return out{};
}

/// Raises the error that T is not a tree.
template <class T, class Mesh, class... Given>
  requires(!Tree<T>)
auto make_tree(Mesh const&, Given const&...) {
  reason::raise<reason::not_a_tree<T>>();
  if constexpr (std::is_default_constructible_v<T>) return T();
}

/// The same from a struct's name alone: `os::make_tree<mlp>(mesh, sizes)`.
template <template <class, class...> class T, class Mesh, class... Given>
[[nodiscard]] auto make_tree(Mesh const& m, Given const&... given) {
  return make_tree<T<names>>(m, given...);
}

/// The same with vectors as long as in a tree of names: `mlp<os::names> shape; shape.layers.resize(48);`.
template <class T, class Mesh, class... Given>
  requires std::is_same_v<detail::leaves_in<T>, names>
[[nodiscard]] auto make_tree_like(T const& shape, Mesh const& m, Given const&... given) {
  using out = detail::tree_with<T, values>;
  if constexpr (reason::ok_or_raise<detail::trees_verdict<out>>())
    return detail::make_tree_of<out>(shape, m, given...);
  else
    return out{};
}

}  // namespace ostraka
