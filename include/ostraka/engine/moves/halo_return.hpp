// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An exchange of halos the other way: what lies in the margins of a padded block goes back to the devices
/// that own those indices, and is added there. The transpose of halo_exchange.hpp, with its plan: whoever sends there
/// receives here, and messages are as long.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/kernels/add_part.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/flight.hpp>
#include <ostraka/engine/moves/halo_plan.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

namespace detail {

/// A return, with its messages and their buffers. What arrives is added in the order of the plan, not of its arrival,
/// so that the sums are the same in every run.
template <class Exec, class T>
class halo_return_record final : public flight_on<Exec> {
 public:
  void begin(execution_context const& w, communicator const& members, halo_plan& plan, T const* padded, T* block) {
    plan_ = &plan;
    padded_ = padded;
    block_ = block;
    take_buffers(members);
    ++plan.in_flight;
    this->enlist(*w.mesh, w.operation);
    try {
      fence(this->exec());
      arrays_.begin(is_staged<Exec>(host_work::carries));
      send_messages(members);
    } catch (...) {  // for want of memory on the host
      this->leave();
      --plan.in_flight;
      throw;
    }
    if (!plan.shape.nowhere)
      copy(this->exec(), block + plan.source.begin, plan.source.loops, padded + plan.inner.begin, plan.inner.loops);
    fence(this->exec());
  }

  halo_return_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return pending_.test(); }

  void finish() override {
    counted_.wait();
    pending_.wait();
    counted_.end();
    arrays_.bring_back();
    halo_plan const& p = *plan_;
    T const* from = received_.data();
    if (exchanges_)
      for (halo_box const& b : p.sent.boxes) {
        add_part(this->exec(), block_ + b.begin, b.loops, from, row_major(b.loops.extent, b.loops.rank));
        from += b.loops.size();
      }
    for (std::size_t i = 0; i < p.copied_to.size(); ++i)  // of a neighbour that is oneself
      add_part(this->exec(), block_ + p.copied_from[i].begin, p.copied_from[i].loops, padded_ + p.copied_to[i].begin,
               p.copied_to[i].loops);
    fence(this->exec());
  }

  void give_back() noexcept override {
    --plan_->in_flight;
    sent_ = scratch<T, space>();
    received_ = scratch<T, space>();
    flight_records<halo_return_record>::instance().give_back(*this);
  }

  // For want of memory this may throw, when nothing is under way yet. What arrives is added to what is there, so all
  // of it gets a place of its own.
  void take_buffers(communicator const& members) {
    exchanges_ = members.size() > 1;
    if (!exchanges_) return;
    elements_ = 0;
    for (halo_message const& m : plan_->sent.messages) elements_ += m.elements;
    received_ = scratch<T, space>(elements_);
    sent_ = scratch<T, space>(plan_->received.packed);
  }

  void send_messages(communicator const& members) {
    halo_plan const& p = *plan_;
    if (!exchanges_) return;
    members.enter();
    counted_.begin(members, collective::halo);
    pending_.begin(members, counted_);
    T* at = arrays_.received(received_.data(), elements_);
    for (halo_message const& m : p.sent.messages) {
      pending_.receive(m.peer, at, m.elements);
      at += m.elements;
    }
    for (halo_message const& m : p.received.messages)
      if (m.packed >= 0) pack(m);
    fence(this->exec());
    T const* const packed = arrays_.sent(sent_.data(), p.received.packed);
    for (halo_message const& m : p.received.messages)
      pending_.send(m.peer, m.packed >= 0 ? packed + m.packed : padded_ + p.received.boxes[m.first].begin, m.elements);
  }

  void pack(halo_message const& m) {
    T* to = sent_.data() + m.packed;
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = plan_->received.boxes[i];
      copy(this->exec(), to, row_major(b.loops.extent, b.loops.rank), padded_ + b.begin, b.loops);
      to += b.loops.size();
    }
  }

  using space = typename Exec::memory_space;

  halo_plan* plan_ = nullptr;
  T const* padded_ = nullptr;
  T* block_ = nullptr;
  bool exchanges_ = false;
  std::int64_t elements_ = 0;  // that arrive
  scratch<T, space> sent_, received_;
  arrays_for_mpi<Exec, T> arrays_;
  counted_collective counted_;
  messages pending_;
};

}  // namespace detail

/// Begins: `block` <- the inner part of `padded`, and what other padded blocks have of it in their margins is added.
/// What a margin has beyond the ends goes nowhere. @pre the plan is not in place
template <class Exec, class T>
run_in_flight begin_halo_return(Exec const& exec, execution_context const& w, communicator const& members,
                                halo_plan& plan, T const* padded, T* block) {
  using record_type = detail::halo_return_record<Exec, T>;
  return detail::begin_record<record_type>(exec,
                                           [&](record_type& record) { record.begin(w, members, plan, padded, block); });
}

}  // namespace ostraka::engine
