// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Plans that take rows of a table, and add them back, if index, table and rows are divided. Both are einsums
/// with a one-hot matrix that is never built and whose indices are small. So the index and the rows move, and never the
/// table.
///
///     table          index      on each device            then, for the rows
///     [V, D_Y]       [B_X]      [B_X, D_Y]
///     [V, D_T]       [B_T]      [B, D_T]                  indices were gathered first
///     [V_X, D]       [B]        [B, D] {U_X}              all_reduce, or reduce_scatter<B/X>, or left partial
///
///     rows           index      on each device            then, for the table
///     [B, D]         [B]        [V_X, D]                  each device adds the rows in its range
///     [B_X, D]       [B_X]      [V, D] {U_X}              all_reduce, or reduce_scatter<V/X>; or
///     [B, D]         [B]        [V_X, D]                  rows and indices were gathered first: whichever moves less

#include <cstdint>

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

/// The sharding to which the indices move first, and the sharding of the rows that each device looks up.
struct lookup_plan {
  spec index{};
  spec local{};
};

/// The shardings to which rows and indices move first, and the sharding of each device's sums.
struct scatter_plan {
  spec updates{};
  spec index{};
  spec local{};
};

/// Bytes of an element of the two kinds of tensors.
struct index_weights {
  int index = 8;
  int element = 4;
};

namespace detail {

constexpr void append_chosen(mesh_order& over, mesh_order from, mesh_set chosen) {
  for (int k = 0; k < from.size(); ++k)
    if (chosen.contains(from[k]) && over.find(from[k]) < 0) over.push_back(from[k]);
}

// `s` divided over those of the mesh axes `asked` that divide `asked_by`, and then over those of its own in `kept`.
constexpr spec divided_as(spec const& s, spec const& asked_by, mesh_set asked, mesh_set kept) {
  spec made = s;
  for (int i = 0; i < s.rank; ++i) {
    made.over[i] = {};
    int const at = asked_by.find(s.label[i]);
    if (at >= 0) append_chosen(made.over[i], asked_by.over[at], asked);
    append_chosen(made.over[i], s.over[i], kept);
  }
  return made;
}

// The mesh axes in `s` that divide labels of `of`.
constexpr mesh_set splits_of_labels(spec const& s, spec const& of) {
  mesh_set axes;
  for (int i = 0; i < s.rank; ++i)
    if (of.find(s.label[i]) >= 0) axes = axes | s.over[i].axes();
  return axes;
}

// Calls f(asked, kept) for all choices. The first choice keeps all mesh axes and adds no others.
template <class F>
constexpr void for_each_choice(mesh_set may_ask, mesh_set may_keep, F const& f) {
  std::uint32_t keep = may_keep.bits;
  while (true) {
    std::uint32_t const free = may_ask.bits & ~keep;
    std::uint32_t ask = 0;
    do {
      f(mesh_set{ask}, mesh_set{keep});
      ask = (ask - free) & free;
    } while (ask != 0);
    if (keep == 0) return;
    keep = (keep - 1) & may_keep.bits;
  }
}

constexpr double share_of(spec const& s, extents const& e) {
  return static_cast<double>(e.whole(s)) / static_cast<double>(e.ways(s.splits()));
}

struct index_price {
  double bytes = unbounded;
  double work = unbounded;
  [[nodiscard]] constexpr bool below(index_price const& other) const {
    return bytes < other.bytes || (bytes == other.bytes && work < other.work);
  }
};

}  // namespace detail

/// The sharding of the rows that devices look up with these indices, with labels in the order of the result's. `v` is
/// the label of the table that the lookup removes. Labels that index and table share are matched.
[[nodiscard]] constexpr spec lookup_sharding(spec const& index, spec const& table, int v, spec const& result) {
  spec made;
  mesh_set const used = index.splits() | table.uses();
  for (int i = 0; i < result.rank; ++i) {
    int const l = result.label[i];
    int const at = index.find(l);
    if (at >= 0) {
      made.push_back(l, index.over[at]);
      continue;
    }
    // A replicated table is read only where the result is divided.
    mesh_order over = table.over[table.find(l)];
    if (result.over[i].starts_with(over)) {
      for (int k = over.size(); k < result.over[i].size(); ++k) {
        if (used.contains(result.over[i][k])) break;
        over.push_back(result.over[i][k]);
      }
    }
    made.push_back(l, over);
  }
  made.partial = table.partial | table.over[table.find(v)].axes();
  return made;
}

/// The sharding of indices that fits the table, keeps `kept`, and is divided over `asked` as the result is.
[[nodiscard]] constexpr spec index_for(spec const& index, spec const& table, spec const& result, mesh_set asked,
                                       mesh_set kept) {
  spec made = detail::divided_as(index, result, asked, kept);
  for (int i = 0; i < index.rank; ++i) {
    int const at = table.find(index.label[i]);
    if (at < 0) continue;
    mesh_order over = table.over[at];
    detail::append_chosen(over, made.over[i], mesh_set::first(max_mesh_axes));
    made.over[i] = over;
  }
  return made;
}

/// The cheapest way to take rows: the fewest bytes, then the least work of a device.
[[nodiscard, gnu::cold]] constexpr lookup_plan plan_lookup(spec const& index, spec const& table, int v,
                                                           spec const& result, extents const& e, index_weights weight) {
  lookup_plan best;
  detail::index_price price;
  mesh_set const used = table.uses();
  detail::for_each_choice(
      detail::splits_of_labels(result, index) - used, index.splits() - used, [&](mesh_set asked, mesh_set kept) {
        lookup_plan p{index_for(index, table, result, asked, kept), {}};
        p.local = lookup_sharding(p.index, table, v, result);
        detail::index_price const own{
            reshard_volume(index, p.index, e) * weight.index + reshard_volume(p.local, result, e) * weight.element,
            detail::share_of(p.local, e)};
        if (own.below(price)) {
          best = p;
          price = own;
        }
      });
  return best;
}

/// The sharding of the sums of these rows on each device. `v` is divided as in the result, except over mesh axes that
/// divide the rows.
[[nodiscard]] constexpr spec scatter_sharding(spec const& updates, int v, spec const& result) {
  spec made;
  for (int i = 0; i < result.rank; ++i) {
    int const l = result.label[i];
    mesh_order over{};
    if (l == v)
      detail::append_chosen(over, result.over[i], mesh_set::first(max_mesh_axes) - updates.uses());
    else
      over = updates.over[updates.find(l)];
    made.push_back(l, over);
  }
  made.partial = updates.uses() - made.splits();
  return made;
}

/// The cheapest way to add rows at their indices.
[[nodiscard, gnu::cold]] constexpr scatter_plan plan_scatter(spec const& updates, spec const& index, int v,
                                                             spec const& result, extents const& e,
                                                             index_weights weight) {
  scatter_plan best;
  detail::index_price price;
  detail::for_each_choice(
      detail::splits_of_labels(result, updates) - updates.partial, updates.splits(),
      [&](mesh_set asked, mesh_set kept) {
        scatter_plan p{detail::divided_as(updates, result, asked, kept), index, {}};
        for (int i = 0; i < index.rank; ++i) p.index.over[i] = p.updates.over[updates.find(index.label[i])];
        p.local = scatter_sharding(p.updates, v, result);
        detail::index_price const own{
            (reshard_volume(updates, p.updates, e) + reshard_volume(p.local, result, e)) * weight.element +
                reshard_volume(index, p.index, e) * weight.index,
            detail::share_of(p.updates, e)};
        if (own.below(price)) {
          best = p;
          price = own;
        }
      });
  return best;
}

}  // namespace ostraka::planner
