// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The steps of a plan that move one tensor, each from the block under `from` to the block under `to`. Who
/// sends what to whom follows from the block distribution alone, so uneven, empty and repeated blocks need no cases of
/// their own. What arrives may be added to what is there, `how` = {alpha, beta}: to <- alpha arrived + beta to, without
/// further room.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/collectives/all_gather.hpp>
#include <ostraka/engine/collectives/all_reduce.hpp>
#include <ostraka/engine/collectives/reduce_scatter.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/moves/exchange_parts.hpp>
#include <ostraka/engine/moves/local_block.hpp>
#include <ostraka/engine/moves/message_blocks.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/lowering/decide.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::engine {

/// What a move has in common with others of equal blocks.
template <class T>
struct move_record {
  exchange_record<T> exchange{};
  message_record message{};

  void forget() { exchange.known = message.known = false; }
};

/// The record of moves that are not repeated, whose memory is.
template <class T>
move_record<T>& passing_move() {
  static thread_local constinit move_record<T>* place = nullptr;
  move_record<T>& passing = per_thread(place);
  passing.forget();
  return passing;
}

namespace detail {

// Does `other` differ from this device along these mesh axes?
inline bool elsewhere_along(execution_context const& w, planner::mesh_set axes, planner::coordinates const& other) {
  for (int m = 0; m < w.sizes.mesh_axes; ++m)
    if (axes.contains(m) && other.at[m] != w.here.at[m]) return true;
  return false;
}

// Is it the device that keeps what a mask leaves?
inline bool first_along(execution_context const& w, planner::mesh_set axes) {
  return !elsewhere_along(w, axes, planner::coordinates{});
}

// Along mesh axes of one device every move is a slice, if it is anything.
inline bool alone(execution_context const& w, planner::planned_step const& s) { return w.group_size(s.axes) == 1; }

template <class Exec, class T>
void all_gather_step(Exec const& exec, execution_context const& w, planner::planned_step const& s,
                     region<T const> const& from, region<T> const& to, update<T> const& how, message_record& parts) {
  communicator const& members = w.group(s.axes);
  if (!parts.known) parts.find_out(w, s.axes, s.from, to, planner::loops_of_received(s, w.sizes), how.overwrites());
  scratch<T, typename Exec::memory_space> const message(parts.as_it_is ? 0 : parts.total);
  T* const arriving = parts.as_it_is ? to.data : message.data();
  T const* send = from.data;
  // On a GPU, where the host would have to copy the own part, it is put into its place here.
  if (!from.gapless() || (is_gpu_memory<Exec>() && !is_staged<Exec>(host_work::carries))) {
    T* own = arriving;
    for (int d = 0; d < members.rank(); ++d) own += parts.counts[static_cast<std::size_t>(d)];
    copy(exec, dense_region(own, from.where), from);
    send = own;
  }
  fence(exec);
  with_arrays_for_mpi(exec, host_work::carries, send, from.where.size(), arriving, parts.total,
                      [&](T const* out, T* in) { all_gather(members, out, in, parts.counts); });
  if (!parts.as_it_is) unpack(exec, to, static_cast<T const*>(arriving), parts.boxes, how);
}

// Calls `collective(message)`, which writes (and with `reads` reads) a message: the block itself if it lies as one,
// else a copy of it.
template <class Exec, class T, class Collective>
void with_message(Exec const& exec, region<T> const& block, update<T> const& how, bool reads,
                  Collective const& collective) {
  bool const as_it_is = block.gapless();
  scratch<T, typename Exec::memory_space> const message(as_it_is ? 0 : block.where.size());
  region<T> const lies = as_it_is ? block : dense_region(message.data(), block.where);
  if (reads && !as_it_is) copy(exec, lies, readable(block));
  fence(exec);
  collective(lies.data);
  if (!as_it_is) copy(exec, block, readable(lies), how);
}

template <class Exec, class T>
void all_reduce_step(Exec const& exec, execution_context const& w, planner::planned_step const& s,
                     region<T const> const& from, region<T> const& to, update<T> const& how) {
  if (from.data != to.data) copy(exec, to, from, how);
  with_message<Exec>(exec, to, update<T>{}, true, [&](T* message) {
    with_array_for_mpi(exec, host_work::computes, message, to.where.size(),
                       [&](T* data) { all_reduce(w.group(s.axes), data, to.where.size(), s.from.kind); });
  });
}

template <class Exec, class T>
void reduce_scatter_step(Exec const& exec, execution_context const& w, planner::planned_step const& s,
                         region<T const> const& from, region<T> const& to, update<T> const& how,
                         message_record& parts) {
  communicator const& members = w.group(s.axes);
  if (!parts.known) parts.find_out(w, s.axes, s.to, from, planner::loops_of_sent(s, w.sizes), true);
  scratch<T, typename Exec::memory_space> const message(parts.as_it_is ? 0 : parts.total);
  if (!parts.as_it_is) pack(exec, message.data(), from, parts.boxes);
  // Where the target does not lie as a message, what has been reduced is added to it when it is copied there.
  update<T> const reduced = to.gapless() ? how : update<T>{};
  with_message<Exec>(exec, to, how, false, [&](T* arriving) {
    with_arrays_for_mpi(
        exec, host_work::computes, parts.as_it_is ? from.data : static_cast<T const*>(message.data()), parts.total,
        arriving, to.where.size(),
        [&](T const* out, T* in) { reduce_scatter(members, out, in, parts.counts, s.from.kind, reduced); },
        reduced.beta != T(0));
  });
}

// Each device sends each other the intersection of their blocks. Where the source is repeated along a mesh axis, the
// receiver is served by the device with its own coordinate there; the others send it an empty box.
template <class Exec, class T>
void exchange_step(Exec const& exec, execution_context const& w, planner::planned_step const& s,
                   region<T const> const& from, region<T> const& to, update<T> const& how, exchange_record<T>& known) {
  planner::mesh_set const repeated = s.axes - s.from.uses();
  auto const meets = [&](std::size_t d, auto const& boxes) {
    planner::coordinates const c = w.member(s.axes, static_cast<int>(d));
    return elsewhere_along(w, repeated, c) ? box{from.where.rank} : boxes(c);
  };
  exchange_parts(
      exec, w.group(s.axes), from, to, how,
      [&](std::size_t d) {
        return meets(d, [&](planner::coordinates const& c) { return intersect(from.where, box_of(s.to, c, w.sizes)); });
      },
      [&](std::size_t d) {
        return meets(d, [&](planner::coordinates const& c) { return intersect(box_of(s.from, c, w.sizes), to.where); });
      },
      known);
}

template <class Exec, class T>
void zero_pad_step(Exec const& exec, planner::planned_step const& s, region<T const> const& from, region<T> const& to,
                   update<T> const& how) {
  if (how.beta == T(0)) {
    fill(exec, to.data, to.layout(), identity<T>(s.to.kind));
    copy(exec, to.part(from.where), from, how);
  } else {
    scale(exec, to.data, to.layout(), how.beta);
    copy(exec, to.part(from.where), from, update<T>{how.alpha, T(1)});
  }
}

template <class Exec, class T>
void mask_step(Exec const& exec, execution_context const& w, planner::planned_step const& s,
               region<T const> const& from, region<T> const& to, update<T> const& how) {
  if (!first_along(w, s.axes))
    how.beta == T(0) ? fill(exec, to.data, to.layout(), identity<T>(s.to.kind))
                     : scale(exec, to.data, to.layout(), how.beta);
  else if (from.data != to.data)
    copy(exec, to, from, how);
}

}  // namespace detail

/// Runs one move into `to`, a region of s.to's box. Collective over the group of s.axes.
/// What it has in common with others of equal blocks is `known`.
/// @pre of `how`: an all-reduce reduces what `to` held as well, so beta is 0 on all devices but one of each group; sums
/// only
template <class Exec, class T>
void move_into(Exec const& exec, execution_context const& w, planner::planned_step const& s,
               region<T const> const& from, region<T> const& to, update<T> const& how, move_record<T>& known) {
  if (detail::alone(w, s)) return copy(exec, to, from.part(to.where), how);
  switch (s.kind) {
    case step::slice: return copy(exec, to, from.part(to.where), how);
    case step::mask: return detail::mask_step(exec, w, s, from, to, how);
    case step::zero_pad: return detail::zero_pad_step(exec, s, from, to, how);
    case step::all_gather: return detail::all_gather_step(exec, w, s, from, to, how, known.message);
    case step::all_reduce: return detail::all_reduce_step(exec, w, s, from, to, how);
    case step::reduce_scatter: return detail::reduce_scatter_step(exec, w, s, from, to, how, known.message);
    case step::all_to_all:
    case step::block_exchange: return detail::exchange_step(exec, w, s, from, to, how, known.exchange);
    case step::contract: return;
  }
}

/// The same for who does not run it again.
template <class Exec, class T>
void move_into(Exec const& exec, execution_context const& w, planner::planned_step const& s,
               region<T const> const& from, region<T> const& to, update<T> const& how = {}) {
  move_into(exec, w, s, from, to, how, passing_move<T>());
}

/// Runs one move of a block: a slice looks at a part of it, a reduction reuses a block of one's own. What is new is
/// written to `room`, a region of s.to's box, if that is given; else to a block of its own. What moves of equal blocks
/// have in common is `known`.
template <class Exec, class T>
void move(Exec const& exec, execution_context const& w, planner::planned_step const& s, local_block<Exec, T>& block,
          move_record<T>& known, region<T> const* room = nullptr) {
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
  move_into(exec, w, s, block.now, next.target(), update<T>{}, known);
  block = std::move(next);
}

}  // namespace ostraka::engine
