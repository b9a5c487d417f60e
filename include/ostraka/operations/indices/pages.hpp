// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Options that give each row of a batch a position of its own, and keep keys and values in pages:
///
///     os::from_positions(t)      t[B]: the position of the first query, or of the first row that is written
///     os::pages<P/X>(table)      table[B, T]: position p is slot p mod S of page table[b, p / S] of a pool [P_X, S, …]
///
/// The pool and the table are those of PagedAttention (Kwon et al., 2023). Entries for pages that a request does not
/// need yet may be any valid number; programs use page 0, which belongs to no request.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/operations/indices/index_range.hpp>

namespace ostraka {

namespace detail {

/// The type of os::from_positions(t).
template <class T>
struct row_positions {
  T positions;
};

/// The type of os::pages<P/X>(table).
template <class Dim, class Table>
struct paged_by {
  Table table;
};

template <class Option>
inline constexpr bool is_paged = false;
template <class Dim, class Table>
inline constexpr bool is_paged<paged_by<Dim, Table>> = true;

template <class Option>
inline constexpr bool has_row_positions = false;
template <class T>
inline constexpr bool has_row_positions<row_positions<T>> = true;

}  // namespace detail

/// An option of os::attention and os::write_at: for each row of a batch, the position of its first query, or of the
/// first row that is written. The tensor has integers along axes of the batch. Requests of different lengths decode in
/// one call.
template <Tensor T>
[[nodiscard]] constexpr detail::row_positions<T> from_positions(T const& positions) {
  return {positions};
}

/// An option of os::attention and os::write_at: keys or values are in pages of a pool, and `table` has the numbers of
/// the pages of each row of the batch, in order of positions. Name the axis of pages the way the pool divides it: `P`,
/// `P/X`.
template <auto Dim, Tensor Table>
[[nodiscard]] constexpr detail::paged_by<detail::type_of<Dim>, Table> pages(Table const& table) {
  return {table};
}

namespace detail {

/// The axis of a page table that the rows lack, which counts the pages of a row; void if the table has no such axis, or
/// several.
template <class Table, class Rows>
struct entries_of_table {
  using own = difference_of<axes_in<Table>, axes_in<Rows>>;
  template <class... As>
  static auto only(type_list<As...>) -> std::type_identity<void>;
  template <class A>
  static auto only(type_list<A>) -> std::type_identity<A>;
  using type = typename decltype(only(own{}))::type;
};

/// True if the axes that A shares with B are divided alike in both, or not at all in A.
template <class A, class B, class... Axes>
consteval bool lies_within(type_list<Axes...>) {
  return ((position_in<Axes, axes_in<B>> < 0 || splits_of<Axes, sharding_in<A>>::size == 0 ||
           std::is_same_v<splits_of<Axes, sharding_in<A>>, splits_of<Axes, sharding_in<B>>>)&&...);
}

/// True if the axes that A shares with B are divided alike in both.
template <class A, class B, class... Axes>
consteval bool lies_as(type_list<Axes...>) {
  return ((position_in<Axes, axes_in<B>> < 0 ||
           std::is_same_v<splits_of<Axes, sharding_in<A>>, splits_of<Axes, sharding_in<B>>>)&&...);
}

template <class Sharding, class Axis>
inline constexpr bool is_last_axis =
    position_in<Axis, typename sharding_traits<Sharding>::axes> == sharding_traits<Sharding>::axes::size - 1;

/// True if a page table fits these rows: it has axes of the rows, and one more axis, which is whole.
template <class Table, class Rows>
consteval bool is_table_of() {
  using entries = typename entries_of_table<Table, Rows>::type;
  if constexpr (std::is_void_v<entries>)
    return false;
  else
    return splits_of<entries, sharding_in<Table>>::size == 0 && lies_within<Table, Rows>(axes_in<Table>{});
}

}  // namespace detail

}  // namespace ostraka
