// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Moves a tensor from one partition of its labels to another by a free slice and one exchange, which has the
/// name of the corresponding collective.

#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner::detail {

// `order` with the axes of `add` at its minor end: in the order of `wish` as long as that continues `order`, then in
// the order of `rest`, then by number.
[[gnu::cold]] constexpr mesh_order extended(mesh_order order, mesh_set add, mesh_order wish, mesh_order rest = {}) {
  if (add.empty()) return order;
  if (wish.starts_with(order))
    while (order.size() < wish.size() && add.contains(wish[order.size()])) {
      add = add - mesh_set::of(wish[order.size()]);
      order.push_back(wish[order.size()]);
    }
  for (int i = 0; i < rest.size(); ++i)
    if (add.contains(rest[i])) {
      order.push_back(rest[i]);
      add = add - mesh_set::of(rest[i]);
    }
  for (int m = 0; m < max_mesh_axes; ++m)
    if (add.contains(m)) order.push_back(m);
  return order;
}

// `from` after all slices towards `to` at the minor end of a label. They are free, and a later exchange moves no more.
[[gnu::cold]] constexpr spec sliced_towards(spec from, spec const& to) {
  mesh_set const used = from.uses();
  for (int i = 0; i < from.rank; ++i)
    if (from.over[i].code != to.over[i].code && to.over[i].starts_with(from.over[i]))
      for (int k = from.over[i].size(); k < to.over[i].size() && !used.contains(to.over[i][k]); ++k)
        from.over[i].push_back(to.over[i][k]);
  return from;
}

// The exchange that takes `from` to `to`: its kind, and the mesh axes of its devices.
// @pre from is sliced towards to, from ≠ to
[[gnu::cold]] constexpr planned_step exchange_step(int operand, spec const& from, spec const& to) {
  mesh_set removed;
  mesh_set added;
  bool minor_ends_only = true;
  for (int i = 0; i < from.rank; ++i) {
    int const same = common_prefix(from.over[i], to.over[i]);
    mesh_set const out = from.over[i].after(same).axes();
    mesh_set const in = to.over[i].after(same).axes();
    removed = removed | out;
    added = added | in;
    minor_ends_only = minor_ends_only && (out.empty() || in.empty());
  }
  mesh_set const axes = removed | added;
  step kind = step::block_exchange;
  bool first = true;
  for (int m = 0; m < max_mesh_axes && minor_ends_only; ++m) {
    if (!axes.contains(m)) continue;
    step const along = becomes(state_of(from, m), state_of(to, m));
    kind = first || kind == along ? along : step::block_exchange;
    first = false;
  }
  return {kind, operand, axes, from, to};
}

[[gnu::cold]] constexpr void append(reshard_steps& steps, step kind, int operand, mesh_set axes, spec const& from,
                                    spec const& to) {
  if (!(from == to)) steps.push_back({kind, operand, axes, from, to});
}

// Appends a slice and an exchange.
// @pre partial over the same mesh axes
[[gnu::cold]] constexpr void append_exchange(reshard_steps& steps, int operand, spec const& from, spec const& to) {
  spec const sliced = sliced_towards(from, to);
  if (!(from == sliced)) steps.push_back({step::slice, operand, sliced.splits() - from.splits(), from, sliced});
  if (!(sliced == to)) steps.push_back(exchange_step(operand, sliced, to));
}

}  // namespace ostraka::planner::detail
