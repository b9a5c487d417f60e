// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An exchange of halos: begun, and waited for later. Between the two, messages are under way, what is sent
/// stays as it is, and of the padded block all but the margins that others fill is there.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/flight.hpp>
#include <ostraka/engine/moves/halo_plan.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

namespace detail {

/// An exchange, with its messages and their buffers.
template <class Exec, class T>
class halo_record final : public flight_on<Exec> {
 public:
  void begin(execution_context const& w, communicator const& members, halo_plan& plan, T const* source, T* target) {
    plan_ = &plan;
    target_ = target;
    take_buffers(members);
    ++plan.in_flight;
    this->enlist(*w.mesh, w.operation);
    try {
      fence(this->exec());
      arrays_.begin(is_staged<Exec>(host_work::carries));
      send_messages(members, source);
    } catch (...) {  // for want of memory on the host
      this->leave();
      --plan.in_flight;
      throw;
    }
    for (std::size_t i = 0; i < plan.copied_to.size(); ++i) copy_box(plan.copied_to[i], source, plan.copied_from[i]);
    if (!plan.shape.in_place && !plan.shape.nowhere) copy_box(plan.inner, source, plan.source);
    fence(this->exec());
  }

  halo_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return pending_.test(); }

  void finish() override {
    counted_.wait();
    pending_.wait();
    counted_.end();
    arrays_.bring_back();
    for (halo_message const& m : plan_->received.messages)
      if (m.packed >= 0) unpack(m);
    fence(this->exec());
  }

  void give_back() noexcept override {
    --plan_->in_flight;
    sent_ = scratch<T, space>();
    received_ = scratch<T, space>();
    flight_records<halo_record>::instance().give_back(*this);
  }

  // For want of memory this may throw, when nothing is under way yet.
  void take_buffers(communicator const& members) {
    if (members.size() == 1) return;
    received_ = scratch<T, space>(plan_->received.packed);
    sent_ = scratch<T, space>(plan_->sent.packed);
  }

  void send_messages(communicator const& members, T const* source) {
    halo_plan const& p = *plan_;
    if (members.size() == 1) return;
    members.enter();
    counted_.begin(members, collective::halo);
    pending_.begin(members, counted_);
    T* const buffer = arrays_.received(received_.data(), p.received.packed);
    for (halo_message const& m : p.received.messages)
      pending_.receive(m.peer, m.packed >= 0 ? buffer + m.packed : target_ + p.received.boxes[m.first].begin,
                       m.elements);
    for (halo_message const& m : p.sent.messages)
      if (m.packed >= 0) pack(m, source);
    fence(this->exec());
    T const* const packed = arrays_.sent(sent_.data(), p.sent.packed);
    for (halo_message const& m : p.sent.messages)
      pending_.send(m.peer, m.packed >= 0 ? packed + m.packed : source + p.sent.boxes[m.first].begin, m.elements);
  }

  void pack(halo_message const& m, T const* source) {
    T* to = sent_.data() + m.packed;
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = plan_->sent.boxes[i];
      copy(this->exec(), to, row_major(b.loops.extent, b.loops.rank), source + b.begin, b.loops);
      to += b.loops.size();
    }
  }
  void unpack(halo_message const& m) {
    T const* from = received_.data() + m.packed;
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = plan_->received.boxes[i];
      copy(this->exec(), target_ + b.begin, b.loops, from, row_major(b.loops.extent, b.loops.rank));
      from += b.loops.size();
    }
  }
  void copy_box(halo_box const& to, T const* source, halo_box const& from) {
    copy(this->exec(), target_ + to.begin, to.loops, source + from.begin, from.loops);
  }

  using space = typename Exec::memory_space;

  halo_plan* plan_ = nullptr;
  T* target_ = nullptr;
  scratch<T, space> sent_, received_;
  arrays_for_mpi<Exec, T> arrays_;
  counted_collective counted_;
  messages pending_;
};

}  // namespace detail

/// Begins to fill the margins of `target`, a padded block, from the blocks of `members`, this device's being `source`.
/// If the plan is not in place, what is between the margins is copied. What no device has stays as it is.
template <class Exec, class T>
run_in_flight begin_halo_exchange(Exec const& exec, execution_context const& w, communicator const& members,
                                  halo_plan& plan, T const* source, T* target) {
  using record_type = detail::halo_record<Exec, T>;
  return detail::begin_record<record_type>(
      exec, [&](record_type& record) { record.begin(w, members, plan, source, target); });
}

/// Of the padded block, what no device has <- value.
template <class Exec, class T>
void fill_beyond(Exec const& exec, halo_plan const& plan, T* target, T const& value) {
  for (halo_box const& b : plan.beyond) fill(exec, target + b.begin, b.loops, value);
  fence(exec);
}

}  // namespace ostraka::engine
