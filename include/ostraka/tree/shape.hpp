// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The shape of a tree is the same tree with names in its leaves, Tree<os::names>. Its fields tell which
/// members are leaves, which are nested trees, and which are neither (a number of heads, an epsilon) and are copied
/// unchanged.
///
///     field of Tree<names>                  kind
///     leaf_name<T, Sharding>                a leaf
///     Other<names>                          a tree
///     Other<stacked<names, L/Z>>            a tree whose leaves have more axes
///     std::array, std::vector of these      a list of them
///     anything else                         copied unchanged

#include <array>
#include <type_traits>
#include <vector>

#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/tree/fields.hpp>
#include <ostraka/tree/leaf.hpp>

namespace ostraka {

namespace detail {

// For a leaf policy: the innermost policy of a stack, the same stack around another policy, and the axes that it puts
// before those of a leaf.
template <class L>
struct policy_of {
  using leaves = L;
  template <class M>
  using with = M;
  using stacked_axes = type_list<>;
};
template <class L, auto... Dims>
struct policy_of<stacked<L, Dims...>> {
  using leaves = typename policy_of<L>::leaves;
  template <class M>
  using with = stacked<typename policy_of<L>::template with<M>, Dims...>;
  using stacked_axes =
      concatenation_of<typename policy_of<L>::stacked_axes, typename sharding_traits<sharding_of<Dims...>>::axes>;
};

// The leaf policy of T, and T with another one. `leaves` is void if T is not a tree.
template <class T>
struct tree_of {
  using leaves = void;
  using stacked_axes = type_list<>;
};
template <template <class, class...> class Tree, class L, class... More>
  requires LeafPolicy<L>
struct tree_of<Tree<L, More...>> {
  using leaves = typename policy_of<L>::leaves;
  template <class M>
  using with = Tree<typename policy_of<L>::template with<M>, More...>;
  using stacked_axes = typename policy_of<L>::stacked_axes;
};
template <template <class, auto, auto...> class Tree, class L, auto First, auto... More>
  requires LeafPolicy<L>
struct tree_of<Tree<L, First, More...>> {
  using leaves = typename policy_of<L>::leaves;
  template <class M>
  using with = Tree<typename policy_of<L>::template with<M>, First, More...>;
  using stacked_axes = typename policy_of<L>::stacked_axes;
};
template <class T, std::size_t N>
  requires(!std::is_void_v<typename tree_of<T>::leaves>)
struct tree_of<std::array<T, N>> {
  using leaves = typename tree_of<T>::leaves;
  template <class M>
  using with = std::array<typename tree_of<T>::template with<M>, N>;
  using stacked_axes = type_list<>;
};
template <class T>
  requires(!std::is_void_v<typename tree_of<T>::leaves>)
struct tree_of<std::vector<T>> {
  using leaves = typename tree_of<T>::leaves;
  template <class M>
  using with = std::vector<typename tree_of<T>::template with<M>>;
  using stacked_axes = type_list<>;
};

/// The axes that os::stacked puts before the axes of T's leaves. None for an array or vector: such axes belong to its
/// elements.
template <class T>
using stacked_axes_in = typename tree_of<std::remove_cvref_t<T>>::stacked_axes;

template <class T>
using leaves_in = typename tree_of<std::remove_cvref_t<T>>::leaves;

/// The same tree with the leaf policy M.
template <class T, class M>
using tree_with = typename tree_of<std::remove_cvref_t<T>>::template with<M>;

template <class T>
using shape_of = tree_with<T, names>;

enum class node { leaf, array, vector, branch, carried };

template <class S>
inline constexpr node container_of = node::carried;
template <class T, std::size_t N>
inline constexpr node container_of<std::array<T, N>> = node::array;
template <class T>
inline constexpr node container_of<std::vector<T>> = node::vector;

template <class S>
consteval node find_node() {
  if constexpr (is_leaf_name<S>) {
    return node::leaf;
  } else if constexpr (container_of<S> != node::carried) {
    return find_node<typename S::value_type>() == node::carried ? node::carried : container_of<S>;
  } else {
    return std::is_same_v<typename tree_of<S>::leaves, names> ? node::branch : node::carried;
  }
}

/// The kind of a field whose type in Tree<names> is S.
template <class S>
inline constexpr node node_of = find_node<S>();

template <class T, class S>
consteval auto check_fields();

// Checks a field of type T whose type in the shape is S.
template <class T, class S, class Owner>
consteval auto check_node() {
  if constexpr (node_of<S> == node::branch)
    return check_fields<T, S>();
  else if constexpr (node_of<S> == node::array || node_of<S> == node::vector)
    return check_node<typename T::value_type, typename S::value_type, Owner>();
  else if constexpr (node_of<S> == node::carried && !std::is_same_v<T, S>)
    return found<reason::leaf_out_of_reach<T, Owner>>{};
  else
    return found<reason::ok>{};
}

template <class T, class S, int... Is>
consteval auto check_each_field(std::integer_sequence<int, Is...>) {
  return found<first_fault<typename decltype(check_node<field_type<S, T, Is>, field_type<S, S, Is>, T>())::type...>>{};
}

template <class T, class S>
consteval auto check_fields() {
  if constexpr (lists_fields<S>)
    return check_each_field<T, S>(std::make_integer_sequence<int, fields_of<S>>{});
  else if constexpr (!std::is_aggregate_v<S>)
    return found<reason::tree_is_not_an_aggregate<T>>{};
  else if constexpr (has_base<S>)
    return found<reason::tree_has_a_base<T>>{};
  else if constexpr (has_c_array<S, fields_of<S>>())
    return found<reason::tree_has_a_c_array<T>>{};
  else if constexpr (fields_of<S> > most_fields)
    return found<reason::tree_has_too_many_fields<T>>{};
  else
    return check_each_field<T, S>(std::make_integer_sequence<int, fields_of<S>>{});
}

template <class T>
consteval auto check_tree() {
  if constexpr (std::is_void_v<leaves_in<T>>)
    return found<reason::not_a_tree<T>>{};
  else
    return check_node<T, shape_of<T>, T>();
}

template <class First, class... More>
consteval auto check_trees() {
  using each_one =
      first_fault<typename decltype(check_tree<First>())::type, typename decltype(check_tree<More>())::type...>;
  if constexpr (!std::is_same_v<each_one, reason::ok>)
    return found<each_one>{};
  else if constexpr (!(std::is_same_v<shape_of<First>, shape_of<More>> && ...))
    return found<reason::trees_differ<First, More...>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok`, or the reason why these are not trees of one shape.
template <class... Trees>
using trees_verdict = typename decltype(check_trees<std::remove_cvref_t<Trees>...>())::type;

// The types of the leaves of T, whose shape is S, in the order of the fields.
template <class S, class T, node Kind = node_of<S>>
struct leaf_list {
  using type = type_list<>;  // carried along
};
template <class S, class T>
struct leaf_list<S, T, node::leaf> {
  using type = type_list<T>;
};
template <class S, class T>
struct leaf_list<S, T, node::array> : leaf_list<typename S::value_type, typename T::value_type> {};
template <class S, class T>
struct leaf_list<S, T, node::vector> : leaf_list<typename S::value_type, typename T::value_type> {};

template <class S, class T, int... Is>
auto list_leaves_of_fields(std::integer_sequence<int, Is...>)
    -> concatenation_of<typename leaf_list<field_type<S, S, Is>, std::remove_cv_t<field_type<S, T, Is>>>::type...>;
template <class S, class T>
struct leaf_list<S, T, node::branch> {
  using type = decltype(list_leaves_of_fields<S, T>(std::make_integer_sequence<int, fields_of<S>>{}));
};

}  // namespace detail

/// A struct that is templated on the policy of its leaves, or an array or vector of such structs.
template <class T>
concept Tree = !std::is_void_v<detail::leaves_in<T>>;

}  // namespace ostraka
