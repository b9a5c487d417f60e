// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The steps of a plan that move one tensor, each from the block under `from` to the block under `to`. Who sends what
/// to whom follows from the block distribution alone, so uneven, empty and repeated blocks need no cases of their own.
/// What arrives may be added to what is there, `how` = {alpha, beta}: to <- alpha arrived + beta to, without further room.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/collectives/all_gather.hpp>
#include <ostraka/engine/collectives/all_reduce.hpp>
#include <ostraka/engine/collectives/exchange.hpp>
#include <ostraka/engine/collectives/reduce_scatter.hpp>
#include <ostraka/engine/local_block.hpp>
#include <ostraka/engine/on_host.hpp>
#include <ostraka/engine/reduction.hpp>
#include <ostraka/plan/step.hpp>
#include <ostraka/plan/workspace.hpp>

namespace ostraka::engine {

namespace detail {

using boxes = std::vector<box>;

// Of each member of the group, the box that `pick` gives for its coordinates.
template <class Pick>
boxes boxes_of_members(locale const& w, planner::mesh_set axes, Pick const& pick) {
  boxes all(static_cast<std::size_t>(w.group_size(axes)));
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = pick(w.member(axes, static_cast<int>(d)));
  return all;
}

inline std::vector<std::int64_t> counts_of(boxes const& all) {
  std::vector<std::int64_t> counts;
  counts.reserve(all.size());
  for (box const& b : all) counts.push_back(b.size());
  return counts;
}

inline std::int64_t total_of(boxes const& all) {
  std::int64_t n = 0;
  for (box const& b : all) n += b.size();
  return n;
}

// One box after the other into a message.
template <class Exec, class T>
void pack(Exec const& exec, T* message, region<T const> const& from, boxes const& parts) {
  for (box const& b : parts) {
    if (b.size() > 0) copy(exec, dense_region(message, b), from.part(b));
    message += b.size();
  }
}

template <class Exec, class T>
void unpack(Exec const& exec, region<T> const& to, T const* message, boxes const& parts, update<T> const& how) {
  for (box const& b : parts) {
    if (b.size() > 0) copy(exec, to.part(b), dense_region(message, b), how);
    message += b.size();
  }
}

// Do the boxes, one after the other, fill `whole` in the order of its memory?
inline bool in_memory_order(boxes const& parts, box const& whole) {
  int divided = -1;
  for (int i = 0; i < whole.rank; ++i)
    for (box const& b : parts)
      if (b.at[i] != whole.at[i]) {
        if (divided >= 0 && divided != i) return false;
        divided = i;
      }
  if (divided < 0) return parts.size() == 1;
  for (int i = 0; i < divided; ++i)
    if (whole.at[i].size() != 1) return false;
  std::int64_t next = whole.at[divided].begin;
  for (box const& b : parts) {
    if (b.at[divided].begin != next) return false;
    next = b.at[divided].end;
  }
  return next == whole.at[divided].end;
}

// Does `other` differ from this device along these mesh axes?
inline bool elsewhere_along(locale const& w, planner::mesh_set axes, planner::coordinates const& other) {
  for (int m = 0; m < w.sizes.mesh_axes; ++m)
    if (axes.contains(m) && other.at[m] != w.here.at[m]) return true;
  return false;
}

// Is it the device that keeps what a mask leaves?
inline bool first_along(locale const& w, planner::mesh_set axes) { return !elsewhere_along(w, axes, planner::coordinates{}); }

// Along mesh axes of one device every move is a slice, if it is anything.
inline bool alone(locale const& w, planner::planned_step const& s) { return w.group_size(s.axes) == 1; }

template <class Exec, class T>
void all_gather_step(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  communicator const& members = w.group(s.axes);
  boxes const parts = boxes_of_members(w, s.axes, [&](planner::coordinates const& c) { return box_of(s.from, c, w.sizes); });
  scratch<T, typename Exec::memory_space> const packed(from.gapless() ? 0 : from.where.size());
  T const* send = from.data;
  if (packed.data() != nullptr) {
    copy(exec, dense_region(packed.data(), from.where), from);
    send = packed.data();
  }
  exec.fence();
  if (how.overwrites() && to.gapless() && in_memory_order(parts, to.where)) {
    on_host_in_out<Exec>(exec, send, from.where.size(), to.data, to.where.size(),
                         [&](T const* out, T* in) { all_gather(members, out, in, counts_of(parts)); });
    return;
  }
  scratch<T, typename Exec::memory_space> const message(total_of(parts));
  on_host_in_out<Exec>(exec, send, from.where.size(), message.data(), total_of(parts),
                       [&](T const* out, T* in) { all_gather(members, out, in, counts_of(parts)); });
  unpack(exec, to, static_cast<T const*>(message.data()), parts, how);
}

// Calls `collective(message)`, which writes (and with `reads` reads) a message: the block itself if it lies as one, else a copy of it.
template <class Exec, class T, class Collective>
void with_message(Exec const& exec, region<T> const& block, update<T> const& how, bool reads, Collective const& collective) {
  bool const as_it_is = block.gapless();
  scratch<T, typename Exec::memory_space> const message(as_it_is ? 0 : block.where.size());
  region<T> const lies = as_it_is ? block : dense_region(message.data(), block.where);
  region<T const> const read{lies.data, lies.layout, lies.where};
  if (reads && !as_it_is) copy(exec, lies, region<T const>{block.data, block.layout, block.where});
  exec.fence();
  collective(lies.data);
  if (!as_it_is) copy(exec, block, read, how);
}

template <class Exec, class T>
void all_reduce_step(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  if (from.data != to.data) copy(exec, to, from, how);
  with_message<Exec>(exec, to, update<T>{}, true, [&](T* message) {
    on_host_in_place<Exec>(exec, message, to.where.size(), [&](T* data) { all_reduce(w.group(s.axes), data, to.where.size(), s.from.kind); });
  });
}

template <class Exec, class T>
void reduce_scatter_step(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  communicator const& members = w.group(s.axes);
  boxes const parts = boxes_of_members(w, s.axes, [&](planner::coordinates const& c) { return box_of(s.to, c, w.sizes); });
  bool const as_it_is = from.gapless() && in_memory_order(parts, from.where);
  scratch<T, typename Exec::memory_space> const message(as_it_is ? 0 : total_of(parts));
  if (!as_it_is) pack(exec, message.data(), from, parts);
  // Where the target does not lie as a message, what has been reduced is added to it when it is copied there.
  update<T> const reduced = to.gapless() ? how : update<T>{};
  with_message<Exec>(exec, to, how, false, [&](T* arriving) {
    on_host_in_out<Exec>(exec, as_it_is ? from.data : static_cast<T const*>(message.data()), total_of(parts), arriving, to.where.size(),
                         [&](T const* out, T* in) { reduce_scatter(members, out, in, counts_of(parts), s.from.kind, reduced); }, reduced.beta != T(0));
  });
}

// Each device sends each other the intersection of their blocks. Where the source is repeated along a mesh axis, the
// receiver is served by the device with its own coordinate there; the others send it an empty box.
template <class Exec, class T>
void exchange_step(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  communicator const& members = w.group(s.axes);
  planner::mesh_set const repeated = s.axes - s.from.uses();
  boxes const sent = boxes_of_members(w, s.axes, [&](planner::coordinates const& c) {
    return elsewhere_along(w, repeated, c) ? box{from.where.rank} : intersect(from.where, box_of(s.to, c, w.sizes));
  });
  boxes const received = boxes_of_members(w, s.axes, [&](planner::coordinates const& c) {
    return elsewhere_along(w, repeated, c) ? box{from.where.rank} : intersect(box_of(s.from, c, w.sizes), to.where);
  });
  std::vector<std::int64_t> const send_counts = counts_of(sent);
  std::vector<std::int64_t> const recv_counts = counts_of(received);
  scratch<T, typename Exec::memory_space> const out(total_of(sent));
  scratch<T, typename Exec::memory_space> const in(total_of(received));
  pack(exec, out.data(), from, sent);
  exec.fence();
  on_host_in_out<Exec>(exec, static_cast<T const*>(out.data()), total_of(sent), in.data(), total_of(received),
                       [&](T const* send, T* recv) { exchange(members, send, send_counts, recv, recv_counts); });
  unpack(exec, to, static_cast<T const*>(in.data()), received, how);
}

template <class Exec, class T>
void zero_pad_step(Exec const& exec, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  if (how.beta == T(0)) {
    fill(exec, to.data, to.layout, identity<T>(s.to.kind));
    copy(exec, to.part(from.where), from, how);
  } else {
    scale(exec, to.data, to.layout, how.beta);
    copy(exec, to.part(from.where), from, update<T>{how.alpha, T(1)});
  }
}

template <class Exec, class T>
void mask_step(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how) {
  if (!first_along(w, s.axes))
    how.beta == T(0) ? fill(exec, to.data, to.layout, identity<T>(s.to.kind)) : scale(exec, to.data, to.layout, how.beta);
  else if (from.data != to.data)
    copy(exec, to, from, how);
}

}  // namespace detail

/// Runs one move into `to`, a region of s.to's box. Collective over the group of s.axes.
/// @pre of `how`: an all-reduce reduces what `to` held as well, so beta is 0 on all devices but one of each group; sums only
template <class Exec, class T>
void move_into(Exec const& exec, locale const& w, planner::planned_step const& s, region<T const> const& from, region<T> const& to, update<T> const& how = {}) {
  if (detail::alone(w, s)) return copy(exec, to, from.part(to.where), how);
  switch (s.kind) {
    case step::slice: return copy(exec, to, from.part(to.where), how);
    case step::mask: return detail::mask_step(exec, w, s, from, to, how);
    case step::zero_pad: return detail::zero_pad_step(exec, s, from, to, how);
    case step::all_gather: return detail::all_gather_step(exec, w, s, from, to, how);
    case step::all_reduce: return detail::all_reduce_step(exec, w, s, from, to, how);
    case step::reduce_scatter: return detail::reduce_scatter_step(exec, w, s, from, to, how);
    case step::all_to_all:
    case step::block_exchange: return detail::exchange_step(exec, w, s, from, to, how);
    case step::contract: return;
  }
}

/// Runs one move of a tensor on its way: a slice looks at a part of the block, a reduction reuses a block of one's own. What is new is
/// written to `room`, a region of s.to's box, if that is given, and there as `how` says; else to a block of its own.
template <class Exec, class T>
void move(Exec const& exec, locale const& w, planner::planned_step const& s, local_block<Exec, T>& block, region<T> const* room = nullptr, update<T> const& how = {}) {
  box const target = box_of(s.to, w.here, w.sizes);
  if (s.kind == step::slice || detail::alone(w, s)) {
    block.now = block.now.part(target);
    return;
  }
  if (planner::rewrites(s.kind) && block.writable()) {
    move_into(exec, w, s, block.now, block.target());
    return;
  }
  auto next = room ? local_block<Exec, T>::in(*room) : local_block<Exec, T>::fresh(target);
  move_into(exec, w, s, block.now, next.target(), room ? how : update<T>{});
  block = std::move(next);
}

}  // namespace ostraka::engine
