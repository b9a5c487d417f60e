// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::write_at<K/X>(cache, os::from_positions(t), rows)`: each row of a batch is written in place at a
/// position of its own, to a cache or, with `os::pages<P/X>(table)`, to pages of a pool. The devices that hold the
/// positions write, and nothing moves. t[B], table[B, T]:
///
///     cache              rows
///     [B_Y, K_X, H]      [B_Y, H]        cache[b, t[b], h] = rows[b, h]
///     [B_Y, K_X, H]      [B_Y, K, H]     cache[b, t[b] + i, h] = rows[b, i, h]
///     [P_X, S, H_Y]      [B, H_Y]        pool[table[b, p / S], p mod S, h] = rows[b, h],  p = t[b]
///     [P_X, S, H_Y]      [B, S, H_Y]     the same of rows[b, i, h],  p = t[b] + i

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/engine/sequences/write_positions.hpp>
#include <ostraka/operations/indices/pages.hpp>
#include <ostraka/operations/indices/write_at.hpp>

namespace ostraka {

namespace detail {

/// The axes of a cache that its rows share.
template <class Dim, class PageDim, class Cache>
using kept_of_cache =
    difference_of<axes_in<Cache>, type_list<typename axis_argument<Dim>::axis, typename axis_argument<PageDim>::axis>>;

/// True if rows have all axes of the cache, divided alike, and if axes of the batch that the cache lacks are whole; and
/// if rows and cache are partial over the same mesh axes, or neither is partial.
template <class Dim, class PageDim, class Cache, class Rows, class... Axes>
consteval bool are_rows_of_cache(type_list<Axes...>) {
  using T = typename axis_argument<Dim>::axis;
  using kept = kept_of_cache<Dim, PageDim, Cache>;
  return difference_of<kept, axes_in<Rows>>::size == 0 &&
         std::is_same_v<typename sharding_traits<sharding_in<Rows>>::partials,
                        typename sharding_traits<sharding_in<Cache>>::partials> &&
         (std::is_same_v<splits_of<Axes, sharding_in<Rows>>,
                         std::conditional_t<(difference_of<type_list<Axes>, kept>::size == 0),
                                            splits_of<Axes, sharding_in<Cache>>, type_list<>>> &&
          ...) &&
         (std::is_void_v<typename axis_argument<PageDim>::axis> ||
          position_in<typename axis_argument<PageDim>::axis, axes_in<Rows>> < 0) &&
         difference_of<type_list<T>, axes_in<Cache>>::size == 0;
}

template <class Rows, class Operation, class Table>
consteval bool are_tables_of() {
  return is_table_of<Table, Rows>();
}
template <class Rows, class Operation>
consteval bool are_tables_of() {
  return true;
}

template <class Operation, class Dim, class PageDim, class Cache, class Rows, class Positions, class... Table>
consteval auto check_write_positions() {
  using T = typename axis_argument<Dim>::axis;
  using own =
      first_fault<typename sharding_traits<sharding_in<Cache>>::verdict,
                  typename sharding_traits<sharding_in<Rows>>::verdict, writable_verdict<Cache>,
                  element_type_verdict<typename Cache::value_type, typename Rows::value_type>,
                  index_verdict<Operation, Positions>, index_verdict<Operation, Table>...,
                  blocks_verdict<sharding<>, Cache, Rows, Positions, Table...>,
                  target_verdict<Cache, Rows, Positions, Table...>, axis_argument_verdict<Operation, Dim, Cache>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (sizeof...(Table) > 0 &&
                       !std::is_same_v<axis_argument_verdict<Operation, PageDim, Cache>, reason::ok>) {
    return found<axis_argument_verdict<Operation, PageDim, Cache>>{};
  } else if constexpr (!are_rows_of_cache<Dim, PageDim, Cache, Rows>(axes_in<Rows>{})) {
    return found<reason::row_sharding_mismatch<sharding_in<Rows>, without_axis<sharding_in<Cache>, T>, T>>{};
  } else {
    using batch = basic_tensor<typename Rows::value_type, without_axis<sharding_in<Rows>, T>, typename Rows::space>;
    using known = union_of<axes_in<Cache>, axes_in<Positions>, axes_in<Table>...>;
    constexpr bool meets = difference_of<axes_in<Positions>, axes_in<batch>>::size == 0 &&
                           difference_of<axes_in<batch>, known>::size == 0 &&
                           lies_within<Positions, batch>(axes_in<Positions>{}) &&
                           are_tables_of<batch, Operation, Table...>();
    return found<
        std::conditional_t<meets, reason::ok, reason::pages_sharding_mismatch<sharding_in<Rows>, Operation>>>{};
  }
}

}  // namespace detail

namespace operation {

/// The operation of os::write_at with positions of rows. `Dim`: the axis, with the mesh axes that divide it in the
/// cache; `PageDim`: the axis of pages, or void.
template <class Dim, class PageDim, class Range>
struct write_at_positions {
  static constexpr char const* name = "write_at";
  using axis = typename detail::axis_argument<Dim>::axis;
  using page_axis = typename detail::axis_argument<PageDim>::axis;

  template <class Cache, class Rows, class Positions, class... Table>
  using verdict = typename decltype(detail::check_write_positions<write_at_positions, Dim, PageDim, Cache, Rows,
                                                                  Positions, Table...>())::type;
  /// The mesh axes along which blocks of a body may differ in extents, so that positions may be in range on some
  /// devices only.
  template <class... Blocks>
  using differing = union_of<varying_in<Blocks>...>;
  template <class Cache, class Rows, class Positions, class... Table>
  using moves = detail::moves_in_turn<detail::moves_of_range<Range, Positions, differing<Cache, Rows, Table...>>,
                                      detail::moves_of_range<Range, Table, differing<Cache>>...>;

  template <class How, class Cache, class Rows, class Positions, class... Table>
  Cache run(How const&, Cache const& cache, Rows const& rows, Positions const& positions, Table const&... table) const {
    using labels = union_of<axes_in<Cache>, axes_in<Positions>, axes_in<Table>...>;
    using mesh = union_of<mesh_axes_in<Cache>, mesh_axes_in<Positions>, mesh_axes_in<Table>...>;
    using batch = detail::without_axis<sharding_in<Rows>, axis>;
    static constexpr planner::spec whole = spec_of<Rows, labels, mesh>, s = spec_of<batch, labels, mesh>;
    constexpr planner::spec of_cache = spec_of<Cache, labels, mesh>;
    constexpr int along = position_in<axis, labels>;
    engine::device_mesh const* const meshes[] = {cache.mesh_handle().get(), rows.mesh_handle().get()};
    detail::common_mesh(name, meshes, 2);
    engine::execution_context const w = detail::context_of<labels, mesh>(name, cache, positions, table...);
    std::int64_t const count = count_of(w, rows, axes_in<Rows>{}, labels{});
    std::int64_t const slots = w.sizes.label[along];
    detail::memory_range const read[] = {detail::memory_of(rows), detail::memory_of(positions),
                                         detail::memory_of(table)...};
    detail::refuse_shared_memory(w, {}, "os::copy", detail::memory_of(cache), read, 2 + sizeof...(Table));
    using page_type = typename detail::nth<0, typename Table::value_type..., std::int64_t>::type;
    engine::positions_to_write<typename Cache::value_type, page_type, typename Positions::value_type> to;
    std::int64_t room = slots;
    if constexpr (sizeof...(Table) > 0) {
      constexpr int pages = position_in<page_axis, labels>;
      using entries =
          typename detail::entries_of_table<Table...,
                                            basic_tensor<typename Rows::value_type, batch, typename Rows::space>>::type;
      room = w.sizes.label[position_in<entries, labels>] * slots;
      (detail::check_range<Range, differing<Cache>>(name, table, page_axis::name, w.sizes.label[pages]), ...);
      ((to.table = engine::align(w, spec_of<Table, labels, mesh>, s, detail::elements_of(table))), ...);
      to.next_entry =
          (engine::detail::window_of(w, spec_of<Table, labels, mesh>, position_in<entries, labels>).stride, ...);
      to.places = engine::detail::window_of(w, of_cache, pages);
      to.next_slot = engine::detail::window_of(w, of_cache, along).stride;
      to.slots = slots;
    } else {
      to.places = engine::detail::window_of(w, of_cache, along);
    }
    detail::check_range<Range, differing<Cache, Rows, Table...>>(name, positions, axis::name, room - count + 1);

    to.to = engine::align(w, of_cache, s, cache.local().data());
    to.positions = engine::align(w, spec_of<Positions, labels, mesh>, s, detail::elements_of(positions));
    to.rows.data = detail::elements_of(rows);
    to.width = 1;
    std::int64_t step = 1, between = 0;
    for (int i = whole.rank - 1, d = s.rank - 1; i >= 0; --i) {
      if (whole.label[i] == along) {
        between = step;
        step *= count;
        continue;
      }
      to.extent[d] = planner::range_of(s, d, w.here, w.sizes).size();
      to.rows.stride[d] = step;
      step *= to.extent[d--];
    }
    to.rank = s.rank;
    // A contiguous last dimension of both is copied as a whole.
    if (s.rank > 0 && to.rows.stride[s.rank - 1] == 1 && to.to.stride[s.rank - 1] == 1 &&
        to.positions.stride[s.rank - 1] == 0 && to.table.stride[s.rank - 1] == 0)
      to.width = to.extent[--to.rank];
    if constexpr (position_in<axis, axes_in<Rows>> >= 0) {
      int const d = to.rank++;
      to.extent[d] = count;
      to.rows.stride[d] = between;
      to.to.stride[d] = to.positions.stride[d] = to.table.stride[d] = 0;
      to.consecutive = d;
    }
    detail::profiled_block<Rows> const region_of_run(name, rows, "reads and writes", 2);
    engine::write_positions(detail::execution_space_of<Cache>(), to);
    return cache;
  }

 private:
  /// Returns the number of positions that are written, and checks the other extents.
  template <class Rows, class... Axes, class Labels>
  static std::int64_t count_of(engine::execution_context const& w, Rows const& rows, type_list<Axes...>, Labels) {
    std::int64_t count = 1;
    auto const check = [&]<class A>(std::type_identity<A>) {
      std::int64_t const n = rows.extents()[static_cast<std::size_t>(position_in<A, axes_in<Rows>>)],
                         wanted = w.sizes.label[position_in<A, Labels>];
      if constexpr (std::is_same_v<A, axis>)
        count = n;
      else if (n != wanted)
        throw_error(name, ": a row has the extents of the cache, but ", A::name, " is ", wanted, " in the cache and ",
                    n, " in the row; make them with the same os::sizes");
    };
    (check(std::type_identity<Axes>{}), ...);
    return count;
  }
};

}  // namespace operation

/// Each row of a batch at its own positions, in place: cache[b, t[b] + i, …] = rows[b, i, …], where the call names the
/// axis with the mesh axes that divide it. Rows lack that axis, or have it undivided, for the positions from t[b] on.
/// With `os::pages<P/X>(table)`, the axis counts the slots of a page, and rows go to the pages of the table. If two
/// rows go to the same place, the later one remains. os::in_range at the end promises that positions and pages are in
/// range, and saves the check. Returns the cache.
/// @throws ostraka::error, on all devices alike, if a position or page is out of range, extents differ, or rows share
/// memory with the cache
template <auto Dim, TensorOrVariable Cache, class Positions, TensorOrVariable Rows,
          detail::IndexRange Range = detail::checked_range>
constexpr auto write_at(Cache const& cache, detail::row_positions<Positions> const& at, Rows const& rows, Range = {}) {
  return detail::operate(operation::write_at_positions<detail::type_of<Dim>, void, Range>{}, cache, rows, at.positions);
}
template <auto Dim, TensorOrVariable Cache, class Positions, TensorOrVariable Rows, class PageDim, class Table,
          detail::IndexRange Range = detail::checked_range>
constexpr auto write_at(Cache const& cache, detail::row_positions<Positions> const& at, Rows const& rows,
                        detail::paged_by<PageDim, Table> const& pages, Range = {}) {
  return detail::operate(operation::write_at_positions<detail::type_of<Dim>, PageDim, Range>{}, cache, rows,
                         at.positions, pages.table);
}

}  // namespace ostraka
