// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Walks through trees of one shape side by side, leaf by leaf in the order of their fields. One walk visits
/// leaves, another makes a new tree. A leaf's path (`layers[3].w1`) is a chain on the stack. It becomes text only if f
/// asks for it or throws an os::error.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/tree/shape.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

struct path {
  path const* before = nullptr;
  std::string_view field{};  ///< empty: an element of an array or vector
  std::int64_t index = 0;

  [[nodiscard]] std::string text() const {
    std::string s = before ? before->text() : std::string();
    if (field.empty()) return before ? join_text(s, '[', index, ']') : s;
    return join_text(s, s.empty() ? "" : ".", field);
  }
};

// Begins with "[3]" if the tree itself is a vector, because the root has no field.
template <class First, class... More>
constexpr std::size_t common_length(path const& at, char const* operation, First const& first, More const&... more) {
  if (((more.size() != first.size()) || ...))
    throw_error(operation, ": trees that go together have vectors of the same length, but ", at.text(), " has ",
                first.size(), " elements in the first tree and another number in another");
  return first.size();
}

/// Throws if vectors in the trees have different lengths, before f is called.
template <class S, class... Trees>
constexpr void require_same_lengths(path const& at, char const* operation, Trees const&... trees);

template <class S, int I, class... Trees>
constexpr void require_lengths_of_field(path const& at, char const* operation, Trees const&... trees) {
  require_same_lengths<field_type<S, S, I>>({&at, field_name<S, I>, 0}, operation, field_at<S, I>(trees)...);
}

template <class S, int... Is, class... Trees>
constexpr void require_lengths_of_fields(path const& at, char const* operation, std::integer_sequence<int, Is...>,
                                         Trees const&... trees) {
  (require_lengths_of_field<S, Is>(at, operation, trees...), ...);
}

template <class S, class... Trees>
constexpr void require_same_lengths(path const& at, char const* operation, Trees const&... trees) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::array || kind == node::vector) {
    std::size_t const n = common_length(at, operation, trees...);
    for (std::size_t i = 0; i < n; ++i)
      require_same_lengths<typename S::value_type>({&at, {}, static_cast<std::int64_t>(i)}, operation, trees[i]...);
  } else if constexpr (kind == node::branch) {
    require_lengths_of_fields<S>(at, operation, std::make_integer_sequence<int, fields_of<S>>{}, trees...);
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_at_leaf(error const& e, path const& at) {
  throw_error(e.what(), " (the leaf ", at.text(), ")");
}

/// A function of a leaf, with pointers instead of types.
using leaf_function = void (*)(void* f, path const& at, void* const* leaves);

/// Calls a function of a leaf, and adds the leaf's name to an error that it throws. One function for leaves of all
/// types, so that only it has to catch errors.
[[gnu::cold, gnu::noinline]] inline void call_at_leaf(leaf_function call, void* f, path const& at,
                                                      void* const* leaves) {
  try {
    call(f, at, leaves);
  } catch (error const& e) {
    throw_at_leaf(e, at);
  }
}

template <class T>
void* untyped(T& object) {
  return const_cast<void*>(static_cast<void const*>(std::addressof(object)));
}

template <class F, class... Leaves>
struct typed_leaves {
  template <std::size_t... Is>
  static void visit(void* f, path const& at, void* const* leaves, std::index_sequence<Is...>) {
    (*static_cast<F*>(f))(at, *static_cast<Leaves*>(leaves[Is])...);
  }
  static void visit(void* f, path const& at, void* const* leaves) {
    visit(f, at, leaves, std::index_sequence_for<Leaves...>{});
  }

  // The first pointer is the leaf to fill.
  template <class Out, std::size_t... Is>
  static void fill(void* f, path const& at, void* const* leaves, std::index_sequence<Is...>) {
    Out made = (*static_cast<F*>(f))(at, *static_cast<Leaves*>(leaves[Is + 1])...);
    *static_cast<Out*>(leaves[0]) = std::move(made);
  }
  template <class Out>
  static void fill(void* f, path const& at, void* const* leaves) {
    fill<Out>(f, at, leaves, std::index_sequence_for<Leaves...>{});
  }
};

/// Calls f with a leaf, and adds the leaf's name to an error that f throws.
template <class F, class... Leaves>
constexpr void visit_leaf(F& f, path const& at, Leaves&... leaves) {
  if (std::is_constant_evaluated()) return static_cast<void>(f(at, leaves...));
  void* const all[] = {untyped(leaves)...};
  call_at_leaf(typed_leaves<F, Leaves...>::visit, untyped(f), at, all);
}

/// out <- f of a leaf, in the same way.
template <class Out, class F, class... Leaves>
constexpr void fill_leaf(Out& out, F& f, path const& at, Leaves&... leaves) {
  if (std::is_constant_evaluated()) return static_cast<void>(out = f(at, leaves...));
  void* const all[] = {untyped(out), untyped(leaves)...};
  call_at_leaf(typed_leaves<F, Leaves...>::template fill<Out>, untyped(f), at, all);
}

/// The result of f for a leaf that is not filled in place, in the same way.
template <class F, class... Leaves>
[[gnu::noinline]] constexpr decltype(auto) at_leaf(F& f, path const& at, Leaves&... leaves) {
  try {
    return f(at, leaves...);
  } catch (error const& e) {
    throw_at_leaf(e, at);
  }
}

template <class S, class F, class... Trees>
constexpr void visit(F& f, path const& at, Trees&... trees);

template <class S, int I, class F, class... Trees>
constexpr void visit_field(F& f, path const& at, Trees&... trees) {
  visit<field_type<S, S, I>>(f, {&at, field_name<S, I>, 0}, field_at<S, I>(trees)...);
}

template <class S, class F, int... Is, class... Trees>
constexpr void visit_fields(F& f, path const& at, std::integer_sequence<int, Is...>, Trees&... trees) {
  (visit_field<S, Is>(f, at, trees...), ...);
}

/// Calls f(path, leaf…) for each leaf of trees of shape S, in order.
template <class S, class F, class... Trees>
[[gnu::cold]] constexpr void visit(F& f, path const& at, Trees&... trees) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf) {
    visit_leaf(f, at, trees...);
  } else if constexpr (kind == node::array || kind == node::vector) {
    std::size_t const n = common_length(at, "tree", trees...);
    for (std::size_t i = 0; i < n; ++i)
      visit<typename S::value_type>(f, {&at, {}, static_cast<std::int64_t>(i)}, trees[i]...);
  } else if constexpr (kind == node::branch) {
    visit_fields<S>(f, at, std::make_integer_sequence<int, fields_of<S>>{}, trees...);
  }
}

template <class S, class Out, class F, class First, class... More>
constexpr Out make_node(F& f, path const& at, First const& first, More const&... more);

template <class S, class Out, class F, class... Trees>
constexpr auto make_element(F& f, path const& at, std::size_t i, Trees const&... trees) {
  return make_node<typename S::value_type, typename Out::value_type>(f, {&at, {}, static_cast<std::int64_t>(i)},
                                                                     trees[i]...);
}

template <class S, class Out, class F, std::size_t... Is, class... Trees>
constexpr Out make_elements(F& f, path const& at, std::index_sequence<Is...>, Trees const&... trees) {
  return Out{{make_element<S, Out>(f, at, Is, trees...)...}};
}

template <class S, class Out, int I, class F, class... Trees>
constexpr auto make_field(F& f, path const& at, Trees const&... trees) {
  return make_node<field_type<S, S, I>, field_type<S, Out, I>>(f, {&at, field_name<S, I>, 0}, field_at<S, I>(trees)...);
}

template <class S, class Out, class F, int... Is, class... Trees>
constexpr Out make_fields(F& f, path const& at, std::integer_sequence<int, Is...>, Trees const&... trees) {
  if constexpr (lists_fields<S>) {
    Out out{};
    ((field_at<S, Is>(out) = make_field<S, Out, Is>(f, at, trees...)), ...);
    return out;
  } else {
    return Out{make_field<S, Out, Is>(f, at, trees...)...};
  }
}

/// True if a new tree is filled in place. Other trees are returned level by level.
template <class Out>
inline constexpr bool is_filled_in_place = std::is_default_constructible_v<Out>&& std::is_copy_assignable_v<Out>;

/// out <- the result of make_node.
template <class S, class Out, class F, class First, class... More>
constexpr void fill_node(Out& out, F& f, path const& at, First const& first, More const&... more);

template <class S, int I, class Out, class F, class... Trees>
constexpr void fill_field(Out& out, F& f, path const& at, Trees const&... trees) {
  fill_node<field_type<S, S, I>>(field_at<S, I>(out), f, {&at, field_name<S, I>, 0}, field_at<S, I>(trees)...);
}

template <class S, class Out, class F, int... Is, class... Trees>
constexpr void fill_fields(Out& out, F& f, path const& at, std::integer_sequence<int, Is...>, Trees const&... trees) {
  (fill_field<S, Is>(out, f, at, trees...), ...);
}

template <class S, class Out, class F, class First, class... More>
[[gnu::cold]] constexpr void fill_node(Out& out, F& f, path const& at, First const& first, More const&... more) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf) {
    fill_leaf(out, f, at, first, more...);
  } else if constexpr (kind == node::carried) {
    out = first;
  } else if constexpr (kind == node::branch) {
    fill_fields<S>(out, f, at, std::make_integer_sequence<int, fields_of<S>>{}, first, more...);
  } else if constexpr (is_filled_in_place<typename Out::value_type>) {
    if constexpr (kind == node::vector) out = Out(first.size());  // resize would move the elements of a longer vector
    for (std::size_t i = 0; i < first.size(); ++i)
      fill_node<typename S::value_type>(out[i], f, {&at, {}, static_cast<std::int64_t>(i)}, first[i], more[i]...);
  } else {
    out = make_node<S, Out>(f, at, first, more...);
  }
}

/// The tree Out, which also has shape S, with f(path, leaf…) in its leaves. Members that are not leaves are copied from
/// the first tree.
template <class S, class Out, class F, class First, class... More>
constexpr Out make_node(F& f, path const& at, First const& first, More const&... more) {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf) {
    return at_leaf(f, at, first, more...);
  } else if constexpr (kind == node::branch && is_filled_in_place<Out>) {
    Out out{};
    fill_node<S>(out, f, at, first, more...);
    return out;
  } else if constexpr (kind == node::array) {
    if constexpr (std::tuple_size_v<S> == 0)
      return Out{};
    else
      return make_elements<S, Out>(f, at, std::make_index_sequence<std::tuple_size_v<S>>{}, first, more...);
  } else if constexpr (kind == node::vector) {
    Out out;
    out.reserve(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) out.push_back(make_element<S, Out>(f, at, i, first, more...));
    return out;
  } else if constexpr (kind == node::branch) {
    return make_fields<S, Out>(f, at, std::make_integer_sequence<int, fields_of<S>>{}, first, more...);
  } else {
    return first;
  }
}

}  // namespace ostraka::detail
