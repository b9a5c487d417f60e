// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An exchange of halos: begun, and waited for later. Between the two, messages are under way, what is sent
/// stays as it is, and of the padded block all but the margins that others fill is there.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

#include <ostraka/engine/collectives/message.hpp>
#include <ostraka/engine/kernels/copy.hpp>
#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/halo_plan.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

namespace detail {

/// What is known of an exchange without its element type.
class halo_flight : public in_flight {
 public:
  virtual ~halo_flight() = default;
  virtual bool test() noexcept = 0;
  virtual void end() = 0;
};

template <class Exec, class T>
class halo_flight_of;

/// The records of one host thread, so that a steady state allocates none.
template <class Exec, class T>
class halo_flights {
 public:
  static halo_flights& instance() {
    static thread_local constinit halo_flights* records = nullptr;
    return per_thread(records);
  }

  halo_flights() = default;
  halo_flights(halo_flights const&) = delete;
  halo_flights& operator=(halo_flights const&) = delete;
  ~halo_flights() {
    while (free_ != nullptr) delete std::exchange(free_, free_->next_free_);
  }

  halo_flight_of<Exec, T>& take() {
    if (free_ == nullptr) return *new halo_flight_of<Exec, T>;
    return *std::exchange(free_, free_->next_free_);
  }
  void give_back(halo_flight_of<Exec, T>& record) {
    record.next_free_ = free_;
    free_ = &record;
  }

 private:
  halo_flight_of<Exec, T>* free_ = nullptr;
};

template <class Exec, class T>
class halo_flight_of final : public halo_flight {
 public:
  void begin(Exec const& exec, execution_context const& w, communicator const& members, halo_plan& plan,
             T const* source, T* target) {
    exec_ = exec;
    mesh_ = w.mesh;
    operation_ = w.operation;
    plan_ = &plan;
    ++plan.in_flight;
    target_ = target;
    enlist();
    fence(exec_);
    arrays_.begin(is_staged<Exec>(host_work::carries));
    send_messages(members, source);
    for (std::size_t i = 0; i < plan.copied_to.size(); ++i) copy_box(plan.copied_to[i], source, plan.copied_from[i]);
    if (!plan.shape.in_place && !plan.shape.nowhere) copy_box(plan.inner, source, plan.source);
    fence(exec_);
  }

  void go_on() noexcept override { test(); }

  bool test() noexcept override {
#if OSTRAKA_ENABLE_MPI
    bool may = false;
    exclusive_use const use = mesh_->use(may);
    return may && pending_.test();
#else
    return true;
#endif
  }

  void end() override {
    exclusive_use const use = mesh_->use(operation_);
    leave();
#if OSTRAKA_ENABLE_MPI
    pending_.wait();
#endif
    arrays_.bring_back();
    for (halo_message const& m : plan_->received.messages)
      if (m.packed >= 0) unpack(m);
    fence(exec_);
    --plan_->in_flight;
    sent_ = scratch<T, space>();
    received_ = scratch<T, space>();
    exec_ = Exec();
    halo_flights<Exec, T>::instance().give_back(*this);
  }

 private:
  friend class halo_flights<Exec, T>;

  void send_messages([[maybe_unused]] communicator const& members, [[maybe_unused]] T const* source) {
#if OSTRAKA_ENABLE_MPI
    halo_plan const& p = *plan_;
    if (members.size() == 1) return;
    members.enter();
    pending_.begin(members);
    received_ = scratch<T, space>(p.received.packed);
    T* const buffer = arrays_.received(received_.data(), p.received.packed);
    for (halo_message const& m : p.received.messages)
      pending_.receive(m.peer, m.packed >= 0 ? buffer + m.packed : target_ + p.received.boxes[m.first].begin,
                       m.elements);
    sent_ = scratch<T, space>(p.sent.packed);
    for (halo_message const& m : p.sent.messages)
      if (m.packed >= 0) pack(m, source);
    fence(exec_);
    T const* const packed = arrays_.sent(sent_.data(), p.sent.packed);
    for (halo_message const& m : p.sent.messages)
      pending_.send(m.peer, m.packed >= 0 ? packed + m.packed : source + p.sent.boxes[m.first].begin, m.elements);
#endif
  }

  void pack(halo_message const& m, T const* source) {
    T* to = sent_.data() + m.packed;
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = plan_->sent.boxes[i];
      copy(exec_, to, row_major(b.loops.extent, b.loops.rank), source + b.begin, b.loops);
      to += b.loops.size();
    }
  }
  void unpack(halo_message const& m) {
    T const* from = received_.data() + m.packed;
    for (std::size_t i = m.first; i < m.first + m.boxes; ++i) {
      halo_box const& b = plan_->received.boxes[i];
      copy(exec_, target_ + b.begin, b.loops, from, row_major(b.loops.extent, b.loops.rank));
      from += b.loops.size();
    }
  }
  void copy_box(halo_box const& to, T const* source, halo_box const& from) {
    copy(exec_, target_ + to.begin, to.loops, source + from.begin, from.loops);
  }

  using space = typename Exec::memory_space;

  Exec exec_{};
  device_mesh const* mesh_ = nullptr;
  std::string_view operation_{};
  halo_plan* plan_ = nullptr;
  T* target_ = nullptr;
  scratch<T, space> sent_, received_;
  arrays_for_mpi<Exec, T> arrays_;
#if OSTRAKA_ENABLE_MPI
  messages pending_;
#endif
  halo_flight_of* next_free_ = nullptr;
};

}  // namespace detail

/// An exchange of halos that has begun, or none. It ends where it is waited for, destroyed or assigned to, on the host
/// thread that began it.
class [[nodiscard]] halo_in_flight {
 public:
  halo_in_flight() = default;
  explicit halo_in_flight(detail::halo_flight& begun) : flight_(&begun) {}
  halo_in_flight(halo_in_flight&& other) noexcept : flight_(std::exchange(other.flight_, nullptr)) {}
  halo_in_flight& operator=(halo_in_flight&& other) {
    if (this == &other) return *this;
    wait();
    flight_ = std::exchange(other.flight_, nullptr);
    return *this;
  }
  ~halo_in_flight() { wait(); }

  /// Lets its messages go on, without waiting; have they arrived?
  bool test() { return flight_ == nullptr || flight_->test(); }

  void wait() {
    if (flight_ != nullptr) std::exchange(flight_, nullptr)->end();
  }

 private:
  detail::halo_flight* flight_ = nullptr;
};

/// Begins to fill the margins of `target`, a padded block, from the blocks of `members`, this device's being `source`.
/// If the plan is not in place, what is between the margins is copied. What no device has stays as it is.
template <class Exec, class T>
halo_in_flight begin_halo_exchange(Exec const& exec, execution_context const& w, communicator const& members,
                                   halo_plan& plan, T const* source, T* target) {
  detail::halo_flight_of<Exec, T>& record = detail::halo_flights<Exec, T>::instance().take();
  halo_in_flight begun(record);
  record.begin(exec, w, members, plan, source, target);
  return begun;
}

/// Of the padded block, what no device has <- value.
template <class Exec, class T>
void fill_beyond(Exec const& exec, halo_plan const& plan, T* target, T const& value) {
  for (halo_box const& b : plan.beyond) fill(exec, target + b.begin, b.loops, value);
  fence(exec);
}

}  // namespace ostraka::engine
