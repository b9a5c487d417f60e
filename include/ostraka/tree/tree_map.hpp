// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Functions over the leaves of trees: os::tree_map(f, a, b…) makes a tree, os::tree_reduce(f, init, tree) a
/// value, and os::for_each_leaf(f, tree…) calls f with each leaf's path.
///
///     auto next = os::tree_map([](auto const& w, auto const& g) { return os::subtract(w, g); }, params, gradients);

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/elements/cast.hpp>
#include <ostraka/tree/walk.hpp>

namespace ostraka {

namespace detail {

// The two ways to call a function with leaves.
template <class F>
struct without_path {
  F& f;
  template <class... Leaves>
  constexpr decltype(auto) operator()(path const&, Leaves&... leaves) {
    return f(leaves...);
  }
};
template <class F>
struct with_path {
  F& f;
  template <class... Leaves>
  constexpr decltype(auto) operator()(path const& at, Leaves&... leaves) {
    return f(at.text(), leaves...);
  }
};

template <class F, class... Leaves>
using result_at_leaf =
    std::remove_cvref_t<decltype(std::declval<F&>()(std::declval<path const&>(), std::declval<Leaves const&>()...))>;

// The leaf policy of f's results, leaf by leaf, if they are neither of one type nor tensors of one element type.
template <class F, class... Ls>
struct mapped_leaves {
  template <class T, class Sharding>
  using leaf = result_at_leaf<F, typename Ls::template leaf<T, Sharding>...>;
};

template <class S, class Out, class F, class... Trees>
consteval bool gives();

template <class S, class Out, int I, class F, class... Trees>
consteval bool makes_field() {
  return gives<field_type<S, S, I>, field_type<S, Out, I>, F, field_type<S, Trees, I>...>();
}

template <class S, class Out, class F, class... Trees, int... Is>
consteval bool makes_fields(std::integer_sequence<int, Is...>) {
  return (makes_field<S, Out, Is, F, Trees...>() && ...);
}

// True if Out is the tree of the results of f on leaves of these trees.
template <class S, class Out, class F, class... Trees>
consteval bool gives() {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf)
    return std::is_same_v<Out, result_at_leaf<F, Trees...>>;
  else if constexpr (kind == node::array || kind == node::vector)
    return gives<typename S::value_type, typename Out::value_type, F, typename Trees::value_type...>();
  else if constexpr (kind == node::branch)
    return makes_fields<S, Out, F, Trees...>(std::make_integer_sequence<int, fields_of<S>>{});
  else
    return true;
}

template <class S, class F, class... Trees>
consteval auto first_result();

// The first list that is not empty.
template <class... Lists>
struct first_of_lists {
  using type = type_list<>;
};
template <class... Lists>
struct first_of_lists<type_list<>, Lists...> : first_of_lists<Lists...> {};
template <class R, class... Lists>
struct first_of_lists<type_list<R>, Lists...> {
  using type = type_list<R>;
};

// (A struct, because no other pack is expanded in its arguments.)
template <class S, int I, class F, class... Trees>
struct first_result_of_field {
  using type = typename decltype(first_result<field_type<S, S, I>, F, field_type<S, Trees, I>...>())::type;
};

template <class S, class F, class... Trees, int... Is>
consteval auto first_result_of_fields(std::integer_sequence<int, Is...>) {
  return first_of_lists<typename first_result_of_field<S, Is, F, Trees...>::type...>{};
}

// The type of f's result for the first leaf, as a list; an empty list for a tree without leaves.
template <class S, class F, class... Trees>
consteval auto first_result() {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf)
    return std::type_identity<type_list<result_at_leaf<F, Trees...>>>{};
  else if constexpr (kind == node::array || kind == node::vector)
    return first_result<typename S::value_type, F, typename Trees::value_type...>();
  else if constexpr (kind == node::branch)
    return first_result_of_fields<S, F, Trees...>(std::make_integer_sequence<int, fields_of<S>>{});
  else
    return std::type_identity<type_list<>>{};
}

template <class R>
struct leaves_like {
  using type = each<R>;
};
template <class T, class Sharding, class Space>
struct leaves_like<basic_tensor<T, Sharding, Space>> {
  using type = values_of<T, Space>;
};

// The first of these policies whose tree is that of f's results.
template <class F, class Trees, class... Policies>
struct fitting_leaves;
template <class F, class... Trees>
struct fitting_leaves<F, type_list<Trees...>> {
  using type = mapped_leaves<F, leaves_in<Trees>...>;
};
template <class F, class First, class... More, class Policy, class... Policies>
struct fitting_leaves<F, type_list<First, More...>, Policy, Policies...> {
  static constexpr bool fits = gives<shape_of<First>, tree_with<First, Policy>, F, First, More...>();
  using type = typename std::conditional_t<fits, std::type_identity<Policy>,
                                           fitting_leaves<F, type_list<First, More...>, Policies...>>::type;
};

template <class F, class Results, class... Trees>
struct leaves_of_results {
  using type = leaves_in<typename nth<0, Trees...>::type>;
};
template <class F, class R, class... Trees>
struct leaves_of_results<F, type_list<R>, Trees...>
    : fitting_leaves<F, type_list<Trees...>, leaves_in<Trees>..., typename leaves_like<R>::type, each<R>> {};

// The leaf policy of a tree of f's results: the first that fits of the named policy, the policies of the trees, tensors
// of one element type, and one type; else the type of f's result for each leaf.
template <class Named, class F, class... Trees>
struct result_leaves {
  using type = Named;
};
template <class F, class First, class... More>
struct result_leaves<void, F, First, More...>
    : leaves_of_results<F, typename decltype(first_result<shape_of<First>, F, First, More...>())::type, First,
                        More...> {};

template <class Named, class F, class First, class... More>
constexpr auto map_trees(char const* operation, F f, First const& first, More const&... more) {
  if constexpr (reason::ok_or_raise<trees_verdict<First, More...>>()) {
    using shape = shape_of<First>;
    if constexpr (sizeof...(More) > 0) require_same_lengths<shape>(path{}, operation, first, more...);
    using out = tree_with<First, typename result_leaves<Named, F, First, More...>::type>;
    return make_node<shape, out>(f, path{}, first, more...);
  } else {
    return first;
  }
}

}  // namespace detail

/// The tree with f(leaf of a, leaf of b, …) in its leaves. Trees that are mapped together have the same struct. Members
/// that are not leaves are copied from the first tree. If f's results have the types of the leaves of one of the trees,
/// the result has that tree's policy; if they are tensors of another element type U, os::values_of<U>; if they are all
/// of one type R, os::each<R>. `os::tree_map<L>(f, …)` names the policy. Calls f for one leaf after another in the
/// order of the fields, on all devices alike, so that f may communicate.
/// @throws ostraka::error before f is called if vectors in the trees have different lengths; an error that f throws
/// names the leaf
template <class Leaves = void, class F, class First, class... More>
[[nodiscard]] constexpr auto tree_map(F&& f, First const& tree, More const&... more) {
  return detail::map_trees<Leaves>("tree_map", detail::without_path<std::remove_reference_t<F>>{f}, tree, more...);
}

/// The same with the leaf's path before the leaves: f("layers[3].w1", leaf, …).
template <class Leaves = void, class F, class First, class... More>
[[nodiscard]] auto tree_map_with_path(F&& f, First const& tree, More const&... more) {
  return detail::map_trees<Leaves>("tree_map_with_path", detail::with_path<std::remove_reference_t<F>>{f}, tree,
                                   more...);
}

/// Calls f(path, leaf of a, leaf of b, …) for each leaf. Leaves can be written if the tree can.
template <class F, class First, class... More>
void for_each_leaf(F&& f, First&& tree, More&&... more) {
  if constexpr (reason::ok_or_raise<detail::trees_verdict<First, More...>>()) {
    using shape = detail::shape_of<First>;
    if constexpr (sizeof...(More) > 0)
      detail::require_same_lengths<shape>(detail::path{}, "for_each_leaf", tree, more...);
    detail::with_path<std::remove_reference_t<F>> call{f};
    detail::visit<shape>(call, detail::path{}, tree, more...);
  }
}

/// f(…f(f(init, leaf), leaf)…, leaf), in the order of the fields: a norm over all parameters, a number of elements.
template <class F, class Value, class T>
[[nodiscard]] constexpr Value tree_reduce(F&& f, Value init, T const& tree) {
  if constexpr (reason::ok_or_raise<detail::trees_verdict<T>>()) {
    auto add = [&](detail::path const&, auto const& leaf) { init = f(std::move(init), leaf); };
    detail::visit<detail::shape_of<T>>(add, detail::path{}, tree);
  }
  return init;
}

/// The number of leaves of a tree.
template <class T>
[[nodiscard]] constexpr std::int64_t count_leaves(T const& tree) {
  return tree_reduce([](std::int64_t n, auto const&) { return n + 1; }, std::int64_t{0}, tree);
}

/// The same tree with elements converted to U, as os::cast does.
template <class U, class T>
[[nodiscard]] constexpr auto tree_cast(T const& tree) {
  return tree_map([](auto const& leaf) { return cast<U>(leaf); }, tree);
}

}  // namespace ostraka
