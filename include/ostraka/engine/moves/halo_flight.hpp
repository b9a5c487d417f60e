// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Halos in flight: they begin, and the program waits for them later. An exchange fills the margins of a
/// padded block from the devices that own those indices. A return is the transpose of an exchange, with the same plan:
/// the contents of the margins go back to their owners, which add them. The senders of an exchange are the receivers of
/// a return, and messages have the same lengths. Between beginning and end, do not change the data sent, and do not
/// access the memory received.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/engine/kernels/add_part.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/moves/flight.hpp>
#include <ostraka/engine/moves/halo_plan.hpp>

namespace ostraka::engine {

/// Into the margins, or back from them.
enum class halo_way { exchange, give_back };

namespace detail {

/// Halos in flight, with their messages and buffers.
///
///     way        from     to       sent                received            where it arrives
///     exchange   block    padded   plan.sent           plan.received       copied; rows where they belong
///     give_back  padded   block    plan.received       plan.sent           added, in the order of the plan and not of
///                                                                          arrival: equal runs give equal sums
template <class Exec, class T, halo_way Way>
class halo_record final : public flight_on<Exec> {
 public:
  void begin(device_mesh const& mesh, char const* operation, communicator const& members, halo_plan& plan,
             T const* from, T* to) {
    plan_ = &plan;
    from_ = from;
    to_ = to;
    exchanges_ = members.size() > 1;
    take_buffers();
    ++plan.in_flight;
    this->enlist(mesh, operation);
    try {
      fence_before_messages(this->exec());
      arrays_.begin(this->exec());
      messages_.pending.on(arrays_);
      if (exchanges_) send_messages(members);
    } catch (...) {  // out of memory on the host
      this->leave();
      --plan.in_flight;
      throw;
    }
    if constexpr (!adds)
      for (std::size_t i = 0; i < plan.copied_to.size(); ++i) copy_box(plan.copied_to[i], plan.copied_from[i]);
    if (!plan.shape.in_place && !plan.shape.nowhere)
      adds ? copy_box(plan.source, plan.inner) : copy_box(plan.inner, plan.source);
    fence_before_messages(this->exec());
  }

  halo_record* next_free = nullptr;

 private:
  static constexpr bool adds = Way == halo_way::give_back;
  using space = typename Exec::memory_space;

  [[nodiscard]] halo_messages const& sent() const { return adds ? plan_->received : plan_->sent; }
  [[nodiscard]] halo_messages const& received() const { return adds ? plan_->sent : plan_->received; }

  // All data to add arrive in the buffer; data to copy arrive there only if their place is not a run of memory.
  [[nodiscard]] static std::int64_t place_of(halo_message const& m) { return adds ? m.begin : m.packed; }
  [[nodiscard]] std::int64_t elements_received() const { return adds ? received().elements : received().packed; }

  bool arrived() noexcept override { return messages_.test(); }

  void finish() override {
    messages_.finish();
    if (exchanges_)
      for (halo_message const& m : received().messages)
        if (place_of(m) >= 0) unpack(m);
    if constexpr (adds)  // from a neighbour that is this device itself
      for (std::size_t i = 0; i < plan_->copied_to.size(); ++i)
        add_part(this->exec(), to_ + plan_->copied_from[i].begin, plan_->copied_from[i].loops,
                 from_ + plan_->copied_to[i].begin, plan_->copied_to[i].loops);
    fence_on_host(this->exec(), arrays_);
  }

  void give_back() noexcept override {
    --plan_->in_flight;
    buffer_ = scratch<T, space>();
    flight_records<halo_record>::instance().give_back(*this);
  }

  // Allocates a buffer for the data received, followed by the data sent. If it throws for lack of memory, nothing is in
  // flight yet.
  void take_buffers() {
    if (exchanges_) buffer_ = scratch<T, space>(elements_received() + sent().packed);
  }

  void send_messages(communicator const& members) {
    messages_.begin(members, collective::halo);
    T* const place = buffer_.data();
    for (halo_message const& m : received().messages)
      messages_.pending.receive(m.peer, place_of(m) >= 0 ? place + place_of(m) : to_ + received().boxes[m.first].begin,
                                m.elements);
    T* const packed = buffer_.data() + elements_received();
    for (halo_message const& m : sent().messages)
      if (m.packed >= 0) pack(m, packed + m.packed);
    fence_before_messages(this->exec());
    for (halo_message const& m : sent().messages)
      messages_.pending.send(m.peer, m.packed >= 0 ? packed + m.packed : from_ + sent().boxes[m.first].begin,
                             m.elements);
    messages_.pending.flush();
  }

  void pack(halo_message const& m, T* to) {
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = sent().boxes[i];
      if (is_walked_here(b))
        for_each_here(b, [to, from = from_ + b.begin](std::int64_t k, std::int64_t at) { to[k] = from[at]; });
      else
        copy(this->exec(), to, row_major(b.loops.extent, b.loops.rank), from_ + b.begin, b.loops);
      to += b.elements;
    }
  }

  void unpack(halo_message const& m) {
    T const* from = buffer_.data() + place_of(m);
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = received().boxes[i];
      if constexpr (adds)
        add_part(this->exec(), to_ + b.begin, b.loops, from, row_major(b.loops.extent, b.loops.rank));
      else if (is_walked_here(b))
        for_each_here(b, [from, to = to_ + b.begin](std::int64_t k, std::int64_t at) { to[at] = from[k]; });
      else
        copy(this->exec(), to_ + b.begin, b.loops, from, row_major(b.loops.extent, b.loops.rank));
      from += b.elements;
    }
  }

  // True for faces of small blocks, where starting a kernel takes longer than the copy.
  static bool is_walked_here(halo_box const& b) {
    return runs_on_host<Exec> && b.is_plane && b.elements <= serial_elements;
  }

  // Calls f(its number in the message, its offset in the block) for each element.
  template <class F>
  static void for_each_here(halo_box const& b, F const& f) {
    if (!computes()) return;
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < b.count[0]; ++i, k += b.count[1]) {
      std::int64_t const at = i * b.step[0], step = b.step[1], count = b.count[1];
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC unroll 4
#endif
      for (std::int64_t j = 0; j < count; ++j) f(k + j, at + j * step);
    }
  }

  void copy_box(halo_box const& to, halo_box const& from) {
    copy(this->exec(), to_ + to.begin, to.loops, from_ + from.begin, from.loops);
  }

  halo_plan* plan_ = nullptr;
  T const* from_ = nullptr;
  T* to_ = nullptr;
  bool exchanges_ = false;
  scratch<T, space> buffer_;
  [[no_unique_address]] arrays_of<Exec> arrays_;
  counted_messages<arrays_of<Exec>> messages_;
};

}  // namespace detail

/// Begins an exchange or a return among `members`:
///
///     exchange    `to`, padded, gets the margins that the others' blocks `from` have, and, if the plan is not in
///                 place, this device's block between them; indices that no device has stay unchanged
///     give_back   `to`, a block, gets the inner part of the padded `from`, and the parts of it in the margins of other
///                 padded blocks are added; margins beyond the ends go nowhere. @pre the plan is not in place
template <halo_way Way, class Exec, class T>
run_in_flight begin_halo(Exec const& exec, device_mesh const& mesh, char const* operation, communicator const& members,
                         halo_plan& plan, T const* from, T* to) {
  using record_type = detail::halo_record<Exec, T, Way>;
  return detail::begin_record<record_type>(
      exec, [&](record_type& record) { record.begin(mesh, operation, members, plan, from, to); });
}

/// Fills the part of the padded block that belongs to no device with `value`.
template <class Exec, class T>
void fill_beyond(Exec const& exec, halo_plan const& plan, T* target, T const& value) {
  for (halo_box const& b : plan.beyond) fill(exec, target + b.begin, b.loops, value);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
