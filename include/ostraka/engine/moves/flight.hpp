// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The handle of an operation in flight, a run of a plan (in_flight.hpp) or a collective on blocks: it can be
/// tested, waited for and moved. The host thread keeps the record behind it for the next operation.

#include <cstdint>
#include <optional>
#include <utility>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>

namespace ostraka::engine {

namespace detail {

/// The part of a record in flight that does not depend on the element type.
class flight : public in_flight {
 public:
  /// Lets the message progress, without waiting. True if it has arrived; false while another host thread uses the mesh
  /// or MPI.
  bool test() noexcept {
    bool may = false;
    exclusive_use const use = mesh_->use(may);
    return may && arrived();
  }
  void poll() noexcept final { static_cast<void>(test()); }

  /// Finishes the operation, and keeps the record for another flight.
  void end() {
    struct ending {
      flight& it;
      ~ending() {
        it.leave();
        it.give_back();
      }
    } const at_last{*this};
    exclusive_use const use = mesh_->use(operation_);
    finish();
  }

 protected:
  flight() = default;
  ~flight() = default;

  void enlist(device_mesh const& mesh, char const* operation) {
    mesh_ = &mesh;
    operation_ = operation;
    in_flight::enlist();
  }

 private:
  virtual bool arrived() noexcept = 0;
  virtual void finish() = 0;
  virtual void give_back() noexcept = 0;

  device_mesh const* mesh_ = nullptr;
  char const* operation_ = "";
};

/// A flight on an instance of an execution space. An idle record holds no instance: the application may end its
/// instance as soon as it is no longer used, and no instance may outlive Kokkos, as the records of a host thread do. A
/// flight that ends in another scope than it began in waits for its instance, since later kernels may run on another.
template <class Exec>
class flight_on : public flight {
 public:
  using execution_space = Exec;

  void hold(Exec const& exec) {
    exec_.emplace(exec);
    if constexpr (!runs_on_host<Exec>) scope_ = instance_of_thread<Exec>().scope;
  }
  void release_instance() {
    if constexpr (!runs_on_host<Exec>)
      if (scope_ != instance_of_thread<Exec>().scope) fence(*exec_);
    exec_.reset();
  }

 protected:
  flight_on() = default;
  ~flight_on() = default;

  [[nodiscard]] Exec const& exec() const { return *exec_; }

 private:
  std::optional<Exec> exec_;
  std::uint64_t scope_ = 0;  // the scope in which it began
};

}  // namespace detail

/// An operation in flight, or none. It ends when it is waited for, destroyed, or assigned to, which must happen on the
/// host thread that began it. All devices of its mesh axes begin, and wait for, their operations in the same order.
/// Until the end, do not write the operands, and do not access the result.
class [[nodiscard]] run_in_flight {
 public:
  run_in_flight() = default;
  explicit run_in_flight(detail::flight& begun) : flight_(&begun) {}
  run_in_flight(run_in_flight&& other) noexcept : flight_(std::exchange(other.flight_, nullptr)) {}
  run_in_flight& operator=(run_in_flight&& other) {
    if (this == &other) return *this;
    wait();
    flight_ = std::exchange(other.flight_, nullptr);
    return *this;
  }
  ~run_in_flight() { wait(); }

  /// True if it holds an operation that has not ended.
  explicit operator bool() const { return flight_ != nullptr; }

  /// Lets the message progress, without waiting. True if it has arrived; wait() then does the remaining work without
  /// waiting for the message.
  bool test() { return flight_ == nullptr || flight_->test(); }

  /// Waits for the message and does the remaining work; the result is then complete.
  void wait() {
    if (flight_ != nullptr) std::exchange(flight_, nullptr)->end();
  }

 private:
  detail::flight* flight_ = nullptr;
};

namespace detail {

/// The records of one host thread, which it reuses, so that a loop allocates none.
template <class Record>
class flight_records {
 public:
  /// Returns the calling thread's records.
  static flight_records& instance() {
    static thread_local constinit flight_records* records = nullptr;
    return per_thread(records);
  }

  flight_records() = default;
  flight_records(flight_records const&) = delete;
  flight_records& operator=(flight_records const&) = delete;
  ~flight_records() {
    while (free_ != nullptr) delete std::exchange(free_, free_->next_free);
  }

  /// Returns a record for a flight on an instance.
  Record& take(typename Record::execution_space const& exec) {
    Record& record = free_ == nullptr ? *new Record : *std::exchange(free_, free_->next_free);
    record.hold(exec);
    return record;
  }
  void give_back(Record& record) {
    record.release_instance();
    record.next_free = free_;
    free_ = &record;
  }

 private:
  Record* free_ = nullptr;  // as many records as were in flight at once
};

/// Begins a flight with `begin(record)`, and keeps the record for another flight if that throws.
template <class Record, class Begin>
run_in_flight begin_record(typename Record::execution_space const& exec, Begin const& begin) {
  Record& record = flight_records<Record>::instance().take(exec);
  try {
    begin(record);
  } catch (...) {
    flight_records<Record>::instance().give_back(record);
    throw;
  }
  return run_in_flight(record);
}

}  // namespace detail

}  // namespace ostraka::engine
