// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The exchange of a reshard between two meshes as a schedule: a process sends the parts of its block on one
/// mesh that others lack, and receives the parts of its block on the other mesh that it lacks. A[I_X] on {X: 4} →
/// A[I_Y] on {Y: 2}. Operand 0 is the block on the source mesh. If the process is not a device of a mesh, it has no
/// block there.

#include <cstdint>

#include <ostraka/plan/lowering/schedule.hpp>
#include <ostraka/plan/reshard/between_meshes.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::planner {

namespace detail {

// The parts that go to and come from other processes, one entry for each process.
[[gnu::cold]] inline dynamic_array<message_part> parts_between(mesh_side const& source, mesh_side const& target, int me,
                                                               buffer_block const& from, buffer_block const& to) {
  dynamic_array<message_part> parts;
  buffer_block const nothing = dense_block(place{}, box{1});
  auto const with = [&](int process) -> message_part& {
    for (message_part& p : parts)
      if (p.member == process) return p;
    parts.push_back({process, nothing, nothing});
    return parts.back();
  };
  for_each_receiver(source, target, me, [&](int p) {
    with(p).sent = from.part(intersect(from.where, box_of(target.sharding, target.at(p), target.sizes)));
  });
  for_each_sender(source, target, me, [&](int p) {
    with(p).received = to.part(intersect(box_of(source.sharding, source.at(p), source.sizes), to.where));
  });
  return parts;
}

}  // namespace detail

/// Lowers the exchange for process `me`, into a schedule with one message among all processes. On a partial target,
/// devices without values get the neutral element. `result` has the labels in the order of the result's memory.
[[gnu::cold]] inline void lower_between(schedule& s, mesh_side const& source, mesh_side const& target,
                                        spec const& result, int me, transport const& via, std::int64_t line) {
  s.clear();
  s.begin_stage(0, -1);
  viewpoint v;
  v.via = via;
  coordinates const now = source.at(me);
  coordinates const then = target.at(me);
  buffer_block const from = dense_block(place{}, box_of(source.sharding, now, source.sizes));
  strided_box const lies = dense(box_of(reordered(target.sharding, result), then, target.sizes));
  buffer_block const to{reordered(lies, result, target.sharding), {result_buffer, 0}};
  dynamic_array<message_part> const parts = detail::parts_between(source, target, me, from, to);
  bool const keeps = !then.nowhere && detail::common(source, now, target, then) > 0;
  box const shared = keeps ? intersect(from.where, to.where) : box{1};
  message m;
  m.kind = step::block_exchange;
  m.members = source.processes();
  for (message_part const& p : parts) m.moved += p.received.where.size();
  auto const each = [&](auto const& use) {
    for (message_part const& p : parts) use(p);
  };
  detail::move_lowering<schedule>(v, s, measured, lowering_functions_of<0, schedule>)
      .exchange_parts(m, each, {me, from.part(shared), to.part(shared)}, {});
  if (!then.nowhere && !target.has_values(then)) s.fill(to, factor::zero, target.sharding.kind);
  s.end(line);
}

}  // namespace ostraka::planner
