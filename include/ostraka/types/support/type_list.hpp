// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The operations on lists of types that the library needs: membership, position, union, difference.

#include <cstddef>
#include <type_traits>

namespace ostraka {

/// An ordered list of types.
template <class... Ts>
struct type_list {
  static constexpr int size = static_cast<int>(sizeof...(Ts));
};

/// True if `T` is one of `Ts`.
template <class T, class... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

namespace detail {

template <class T>
std::type_identity<T> deduced(T);

/// The type of a template value. It is deduced, because nvcc writes the value as an expression whose decltype its host
/// compiler does not support.
template <auto Value>
using type_of = typename decltype(deduced(Value))::type;

// Counts the false values before the first true one.
struct first_true {
  int passed = 0;
  bool found = false;

  friend constexpr first_true operator%(first_true f, bool next) {
    return {f.found || next ? f.passed : f.passed + 1, f.found || next};
  }
  [[nodiscard]] constexpr int position() const { return found ? passed : -1; }
};

template <class List, class... More>
struct unite;

template <class... Ts>
struct unite<type_list<Ts...>> {
  using type = type_list<Ts...>;
};

template <class... Ts, class Next, class... More>
struct unite<type_list<Ts...>, Next, More...>
    : unite<std::conditional_t<is_one_of<Next, Ts...>, type_list<Ts...>, type_list<Ts..., Next>>, More...> {};

template <class Into, class... Lists>
struct unite_lists {
  using type = Into;
};

template <class Into, class... Ts, class... Lists>
struct unite_lists<Into, type_list<Ts...>, Lists...> : unite_lists<typename unite<Into, Ts...>::type, Lists...> {};

// True if all of `List` are in `Into`. This takes two steps, because nvcc 13 loses the mesh axis of os::slice<J/X>(A)
// from one fold over both packs.
template <class T, class Into>
inline constexpr bool is_in = false;
template <class T, class... Ts>
inline constexpr bool is_in<T, type_list<Ts...>> = (std::is_same_v<T, Ts> || ...);

template <class List, class Into>
inline constexpr bool are_in = false;
template <class... Ts, class Into>
inline constexpr bool are_in<type_list<Ts...>, Into> = (is_in<Ts, Into> && ...);

// The common case: the list has nothing new.
template <class Into, class... Ts, class... Lists>
  requires(are_in<type_list<Ts...>, Into>)
struct unite_lists<Into, type_list<Ts...>, Lists...> : unite_lists<Into, Lists...> {};

template <class Result, class List, class Without>
struct subtract;

template <class... Rs, class Without>
struct subtract<type_list<Rs...>, type_list<>, Without> {
  using type = type_list<Rs...>;
};

template <class... Rs, class T, class... Ts, class... Ws>
struct subtract<type_list<Rs...>, type_list<T, Ts...>, type_list<Ws...>>
    : subtract<std::conditional_t<is_one_of<T, Ws...>, type_list<Rs...>, type_list<Rs..., T>>, type_list<Ts...>,
               type_list<Ws...>> {};

template <class... Lists>
struct concatenate {
  using type = type_list<>;
};

template <class... Ts>
struct concatenate<type_list<Ts...>> {
  using type = type_list<Ts...>;
};

template <class... Ts, class... Us, class... More>
struct concatenate<type_list<Ts...>, type_list<Us...>, More...> : concatenate<type_list<Ts..., Us...>, More...> {};

template <class List>
struct find_repeated {
  using type = void;
};

template <class T, class... Ts>
struct find_repeated<type_list<T, Ts...>> {
  using type =
      typename std::conditional_t<is_one_of<T, Ts...>, std::type_identity<T>, find_repeated<type_list<Ts...>>>::type;
};

}  // namespace detail

/// The position of `T` in `List`; −1 if absent.
template <class T, class List>
inline constexpr int position_in = -1;
template <class T, class... Ts>
inline constexpr int position_in<T, type_list<Ts...>> = (detail::first_true{} % ... % std::is_same_v<T, Ts>).position();

/// The lists, one after the other.
template <class... Lists>
using concatenation_of = typename detail::concatenate<Lists...>::type;

/// Union in order of first appearance.
template <class... Lists>
using union_of = typename detail::unite_lists<type_list<>, Lists...>::type;

/// The types of `List` that are not in `Without`, in order.
template <class List, class Without>
using difference_of = typename detail::subtract<type_list<>, List, Without>::type;

/// True if both lists have the same types, in any order. @pre no type occurs twice in one of them
template <class List, class Other>
inline constexpr bool have_same_types = List::size == Other::size && detail::are_in<List, Other>;

/// The first type that occurs twice; `void` if none does.
template <class List>
using first_repeated = typename detail::find_repeated<List>::type;

}  // namespace ostraka
