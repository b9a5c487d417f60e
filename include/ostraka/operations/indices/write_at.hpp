// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::write_at<T/X>(cache, t, row)`: writes one or several rows in place, at a run-time position. The
/// devices that hold the position write, and nothing moves.
///
///     cache          row
///     [B_Y, T_X, H]  [B_Y, H]        cache[b, t, h] = row[b, h]
///     [B_Y, T_X, H]  [B_Y, T, H]     cache[b, t + k, h] = row[b, k, h]

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/engine/blocks/write_rows.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

template <class Operation, class Dim, class Cache, class Row>
consteval auto check_write() {
  using own = first_fault<
      typename sharding_traits<sharding_in<Cache>>::verdict, typename sharding_traits<sharding_in<Row>>::verdict,
      writable_verdict<Cache>, element_type_verdict<typename Cache::value_type, typename Row::value_type>,
      blocks_verdict<sharding<>, Cache, Row>, target_verdict<Cache, Row>, axis_argument_verdict<Operation, Dim, Cache>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using T = typename axis_argument<Dim>::axis;
    using row = varying_as<sharding_in<Row>, Cache>;
    using one = without_axis<sharding_in<Cache>, T>;
    using several = with_entry<sharding_in<Cache>, T, T>;
    if constexpr (std::is_same_v<row, one> || std::is_same_v<row, several>)
      return found<reason::ok>{};
    else
      return found<reason::row_sharding_mismatch<sharding_in<Row>, one, T>>{};
  }
}

[[noreturn, gnu::cold]] inline void throw_position(char const* operation, std::string_view axis, std::int64_t extent,
                                                   std::int64_t t, std::int64_t count) {
  throw_error(operation, ": ",
              count == 1 ? join_text("the position is one of 0 … ", extent - 1)
                         : join_text("the positions of ", count, " rows are among 0 … ", extent - 1),
              " along ", axis, ", but ", count == 1 ? "it is " : "they begin at ", t,
              "; give the axis a larger extent, or begin again at 0");
}

}  // namespace detail

namespace operation {

/// The operation of os::write_at. `Dim`: the axis, with the mesh axes that divide it in the cache.
template <class Dim>
struct write_at : detail::moves_nothing {
  static constexpr char const* name = "write_at";

  std::int64_t position = 0;

  template <class Cache, class Row>
  using verdict = typename decltype(detail::check_write<write_at, Dim, Cache, Row>())::type;

  template <class How, class Cache, class Row>
  Cache run(How const&, Cache const& cache, Row const& row) const {
    using axes = axes_in<Cache>;
    using T = typename detail::axis_argument<Dim>::axis;
    constexpr int along = position_in<T, axes>;
    constexpr planner::spec s = spec_of<Cache, axes, mesh_axes_in<Cache>>;
    engine::device_mesh const* const meshes[] = {cache.mesh_handle().get(), row.mesh_handle().get()};
    detail::common_mesh(name, meshes, 2);
    engine::execution_context const w = detail::context_of<axes, mesh_axes_in<Cache>>(name, cache);
    std::int64_t count = 1;
    auto const extent_of = [&]<class A>(std::type_identity<A>) {
      constexpr int in_cache = position_in<A, axes>;
      std::int64_t const n = row.extents()[static_cast<std::size_t>(position_in<A, axes_in<Row>>)];
      if constexpr (in_cache == along)
        count = n;
      else if (n != w.sizes.label[in_cache])
        throw_error(name, ": a row has the extents of the cache, but ", A::name, " is ", w.sizes.label[in_cache],
                    " in the cache and ", n, " in the row; make them with the same os::sizes");
    };
    [&]<class... As>(type_list<As...>) { (extent_of(std::type_identity<As>{}), ...); }(axes_in<Row>{});
    std::int64_t const extent = w.sizes.label[along];
    if (position < 0 || position > extent - count) detail::throw_position(name, T::name, extent, position, count);
    detail::profiled_block<Row> const region_of_run(name, row, "reads and writes", 2);
    engine::write_rows(detail::execution_space_of<Cache>(), w, s, along, position, count, cache.local().data(),
                       detail::elements_of(row));
    return cache;
  }
};

}  // namespace operation

/// cache[…, t, …] = row, in place: `os::write_at<T/X>(cache, t, row)`. Name the axis with the mesh axes that divide it.
/// The row has the cache's sharding without the axis; or it also has the axis, undivided, for the positions from t on.
/// All devices pass the same t. Returns the cache; for variables, which are values, a new one with the row written.
/// @throws ostraka::error, on all devices alike, if t is out of range or extents differ
template <auto Dim, TensorOrVariable Cache, TensorOrVariable Row>
constexpr auto write_at(Cache const& cache, std::int64_t t, Row const& row) {
  return detail::operate(operation::write_at<detail::type_of<Dim>>{{}, t}, cache, row);
}

}  // namespace ostraka
