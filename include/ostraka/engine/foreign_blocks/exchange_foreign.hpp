// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs an exchange between the block of a tensor and arrays of the program, which may be in another memory
/// space: packs, sends all messages at once, and unpacks. Elements that stay on this device are copied while messages
/// are in flight. A message whose data are one run of memory is sent or received in place.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/blocks/copy_across.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/foreign_blocks/foreign_plan.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

/// An array of the program: its first element, and the strides of the tensor's dimensions.
template <class T>
struct foreign_array {
  T* data = nullptr;
  std::int64_t stride[max_rank]{};
};

/// A piece in memory.
template <class T>
struct located_piece {
  T* data = nullptr;
  strided loops{};
};

/// Locates pieces in the arrays of the program.
template <class T>
struct in_arrays {
  foreign_array<T> const* array;
  int rank;

  located_piece<T> operator()(foreign_piece const& p) const {
    foreign_array<T> const& a = array[p.array];
    located_piece<T> at{a.data, {}};
    for (int d = 0; d < rank; ++d) {
      at.data += p.at[d].local * a.stride[d];
      at.loops.add(p.at[d].count, p.at[d].local_step * a.stride[d]).add(p.at[d].size, a.stride[d]);
    }
    return at;
  }
};

/// Locates pieces in this device's dense block of the tensor.
template <class T>
struct in_block {
  T* data;
  planner::strided_box lies;

  located_piece<T> operator()(foreign_piece const& p) const {
    located_piece<T> at{data, {}};
    for (int d = 0; d < lies.where.rank; ++d) {
      at.data += (p.at[d].begin - lies.where.at[d].begin) * lies.stride[d];
      at.loops.add(p.at[d].count, p.at[d].step * lies.stride[d]).add(p.at[d].size, lies.stride[d]);
    }
    return at;
  }
};

namespace detail {

// True if the program passes the block itself as its array, so that there is nothing to copy.
template <class T>
bool is_same_place(located_piece<T const> const& from, located_piece<T> const& to) {
  if (from.data != to.data) return false;
  for (int d = 0; d < to.loops.rank; ++d)
    if (to.loops.extent[d] > 1 && from.loops.stride[d] != to.loops.stride[d]) return false;
  return true;
}

/// One exchange. `Source` and `Target` locate pieces.
template <class From, class To, class T, class Source, class Target>
class foreign_exchange {
 public:
  foreign_exchange(From const& from_exec, Source const& source, To const& to_exec, Target const& target,
                   foreign_plan const& plan, dynamic_array<exchanged<T>>& parts)
      : from_exec_(from_exec), source_(source), to_exec_(to_exec), target_(target), plan_(plan), parts_(parts) {}

  void run(communicator const& members) {
    fence(from_exec_);
    if constexpr (!std::is_same_v<From, To>) fence(to_exec_);
    if (members.size() == 1) return copy_local_parts();
    bool const stages_sent = is_staged<From>(host_work::carries), stages_received = is_staged<To>(host_work::carries);
    std::int64_t const sent = packed_elements(plan_.sent, source_, stages_sent);
    std::int64_t const received = packed_elements(plan_.received, target_, stages_received);
    scratch<T, typename From::memory_space> const out(sent);
    scratch<T, typename To::memory_space> const in(received);
    arrays_for_mpi<From, T> sent_arrays;
    arrays_for_mpi<To, T> received_arrays;
    sent_arrays.begin(stages_sent);
    received_arrays.begin(stages_received);
    parts_.clear();
    parts_.resize(static_cast<std::size_t>(members.size()));

    if (members.is_dry()) return count(members);
    T* const arriving = received_arrays.received(in.data(), received);
    each_message(plan_.received, target_, stages_received, [&](foreign_message const& m, T* where, std::int64_t at) {
      part(m).receive = where != nullptr ? where : arriving + at;
      part(m).received = m.elements;
    });
    each_message(plan_.sent, source_, stages_sent, [&](foreign_message const& m, T const* where, std::int64_t at) {
      if (where == nullptr) pack(m, out.data() + at);
    });
    fence(from_exec_);
    T const* const leaving = sent_arrays.sent(out.data(), sent);
    each_message(plan_.sent, source_, stages_sent, [&](foreign_message const& m, T const* where, std::int64_t at) {
      part(m).send = where != nullptr ? where : leaving + at;
      part(m).sent = m.elements;
    });
    exchange(members, static_cast<exchanged<T> const*>(parts_.data()), [&] { copy_local_parts(); });
    received_arrays.copy_back();
    each_message(plan_.received, target_, stages_received, [&](foreign_message const& m, T* where, std::int64_t at) {
      if (where == nullptr) unpack(m, in.data() + at);
    });
    fence(to_exec_);
  }

 private:
  // Counts the bytes that would be sent: all that a dry mesh can know.
  void count(communicator const& members) {
    for (foreign_message const& m : plan_.sent.messages) part(m).sent = m.elements;
    exchange(members, static_cast<exchanged<T> const*>(parts_.data()), [&] { copy_local_parts(); });
  }

  exchanged<T>& part(foreign_message const& m) { return parts_[static_cast<std::size_t>(m.peer)]; }

  // Calls f(message, its data if they are one run of memory, else null, its place in the buffer).
  template <class Place, class F>
  static void each_message(foreign_messages const& all, Place const& place, bool staged, F const& f) {
    std::int64_t next = 0;
    for (foreign_message const& m : all.messages) {
      auto const first = place(all.pieces[m.first]);
      bool const is_run = m.pieces == 1 && !staged && first.loops.is_row_major();
      f(m, is_run ? first.data : nullptr, next);
      next += is_run ? 0 : m.elements;
    }
  }

  template <class Place>
  static std::int64_t packed_elements(foreign_messages const& all, Place const& place, bool staged) {
    std::int64_t elements = 0;
    each_message(all, place, staged, [&](foreign_message const& m, auto const* where, std::int64_t) {
      if (where == nullptr) elements += m.elements;
    });
    return elements;
  }

  void pack(foreign_message const& m, T* to) {
    for (std::size_t k = m.first; k < m.first + m.pieces; ++k) {
      auto const from = source_(plan_.sent.pieces[k]);
      copy(from_exec_, to, row_major(from.loops.extent, from.loops.rank), static_cast<T const*>(from.data), from.loops);
      to += plan_.sent.pieces[k].elements;
    }
  }

  void unpack(foreign_message const& m, T const* from) {
    for (std::size_t k = m.first; k < m.first + m.pieces; ++k) {
      auto const to = target_(plan_.received.pieces[k]);
      copy(to_exec_, to.data, to.loops, from, row_major(to.loops.extent, to.loops.rank));
      from += plan_.received.pieces[k].elements;
    }
  }

  void copy_local_parts() {
    for (foreign_piece const& p : plan_.here) {
      located_piece<T const> const from = source_(p);
      located_piece<T> const to = target_(p);
      if (!is_same_place(from, to)) copy_across(to_exec_, to.data, to.loops, from_exec_, from.data, from.loops);
    }
  }

  From const& from_exec_;
  Source const& source_;
  To const& to_exec_;
  Target const& target_;
  foreign_plan const& plan_;
  dynamic_array<exchanged<T>>& parts_;
};

}  // namespace detail

/// block <- arrays, or arrays <- block, by the plan of that direction. The caller may keep `parts` for the next
/// exchange. Collective over the mesh.
template <class Theirs, class Ours, class T>
void copy_from_arrays(Theirs const& theirs, in_arrays<T const> const& arrays, Ours const& ours,
                      in_block<T> const& block, device_mesh const& mesh, foreign_plan const& plan,
                      dynamic_array<exchanged<T>>& parts) {
  detail::foreign_exchange<Theirs, Ours, T, in_arrays<T const>, in_block<T>>(theirs, arrays, ours, block, plan, parts)
      .run(mesh.world());
}
template <class Theirs, class Ours, class T>
void copy_to_arrays(Theirs const& theirs, in_arrays<T> const& arrays, Ours const& ours, in_block<T const> const& block,
                    device_mesh const& mesh, foreign_plan const& plan, dynamic_array<exchanged<T>>& parts) {
  detail::foreign_exchange<Ours, Theirs, T, in_block<T const>, in_arrays<T>>(ours, block, theirs, arrays, plan, parts)
      .run(mesh.world());
}

}  // namespace ostraka::engine
