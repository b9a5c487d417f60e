// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The handle of something that is in flight, a run of a plan (in_flight.hpp) or a collective on
/// blocks: it can be asked, waited for and moved, whatever it is. What stands behind it is kept for the next by its
/// host thread.

#include <optional>
#include <string_view>
#include <utility>

#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>

namespace ostraka::engine {

namespace detail {

/// What is known of something in flight without its element type.
class flight : public in_flight {
 public:
  /// Lets its message go on, without waiting; has it arrived? Says no where another host thread uses the mesh, or MPI.
  bool test() noexcept {
    bool may = false;
    exclusive_use const use = mesh_->use(may);
    return may && arrived();
  }
  void go_on() noexcept final { static_cast<void>(test()); }

  /// Goes on to the end, and is kept for another.
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

  void enlist(device_mesh const& mesh, std::string_view operation) {
    mesh_ = &mesh;
    operation_ = operation;
    in_flight::enlist();
  }

 private:
  virtual bool arrived() noexcept = 0;
  virtual void finish() = 0;
  virtual void give_back() noexcept = 0;

  device_mesh const* mesh_ = nullptr;
  std::string_view operation_{};
};

/// A flight on an instance of an execution space. A record that waits for its next flight holds none: an application's
/// instance may end as soon as nobody uses it, and none may outlive Kokkos, as what a host thread keeps does.
template <class Exec>
class flight_on : public flight {
 public:
  using execution_space = Exec;

  void hold(Exec const& exec) { exec_.emplace(exec); }
  void let_go() { exec_.reset(); }

 protected:
  flight_on() = default;
  ~flight_on() = default;

  [[nodiscard]] Exec const& exec() const { return *exec_; }

 private:
  std::optional<Exec> exec_;
};

}  // namespace detail

/// A run that has begun, or none. It ends where it is waited for, destroyed, or assigned to: on the host thread that
/// began it, before that thread ends. Runs are begun, and waited for, in the same order on all devices of their mesh
/// axes; until the end nobody writes the operands or touches the result.
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

  /// Is there one that has not ended?
  explicit operator bool() const { return flight_ != nullptr; }

  /// Lets its message go on, without waiting; has it arrived? Then wait() only does what is left, without waiting for
  /// it.
  bool test() { return flight_ == nullptr || flight_->test(); }

  /// Does the rest: the result is there.
  void wait() {
    if (flight_ != nullptr) std::exchange(flight_, nullptr)->end();
  }

 private:
  detail::flight* flight_ = nullptr;
};

namespace detail {

/// The records of one host thread, kept so that a steady state allocates none.
template <class Record>
class flight_records {
 public:
  /// The calling thread's.
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

  /// A record for a flight on an instance.
  Record& take(typename Record::execution_space const& exec) {
    Record& record = free_ == nullptr ? *new Record : *std::exchange(free_, free_->next_free);
    record.hold(exec);
    return record;
  }
  void give_back(Record& record) {
    record.let_go();
    record.next_free = free_;
    free_ = &record;
  }

 private:
  Record* free_ = nullptr;  // as many as were in flight at once
};

/// A record that is begun by `begin(record)`, and is kept for another run where that throws.
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
