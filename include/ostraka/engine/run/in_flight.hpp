// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A run that is under way and can be handed on: `begin` does what execute.hpp's `run` does as far as the
/// first message, and returns; the rest is done by `wait`. What the run needs it owns, apart from the blocks and the
/// mesh, which whoever holds it keeps. Several runs of one call may be in flight at once.
///
///     run_in_flight gathered = begin(exec, w, plan, operands, result, how, memory);   A[I, J] <- A[I_X, J]
///     …                                                                               C[I, K] <- C[I, K] + …
///     gathered.wait();

#include <Kokkos_Core.hpp>

#include <memory>
#include <optional>
#include <utility>

#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/running.hpp>
#include <ostraka/engine/spmd/call_in_words.hpp>

namespace ostraka::engine {

namespace detail {

/// What is known of a run in flight without its element type.
class flight : public in_flight {
 public:
  virtual ~flight() = default;

  /// Has the message under way arrived, so that wait() does not wait for it?
  virtual bool test() noexcept = 0;

  /// Goes on to the end, and is kept for another run.
  virtual void end() = 0;
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

template <class Exec, class T>
class flight_records;

/// A run with all that it refers to. Records are kept by their host thread, so that a steady state allocates none.
template <class Exec, class T>
class flight_record final : public flight {
 public:
  void begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan, T const* const* operands,
             T* result, update<T> const& how, schedule_memory& memory, planner::strided_box const* given) {
    exec_ = exec;
    w_ = w;
    plan_ = plan;
    if (tool_listens()) keep_plan();
    known_schedule& known = memory.of<Exec>(w, plan, how, given, own_);
    run_.emplace(exec_, w_, plan_, known, operands, result, how, heard_as::operation, nullptr, mpi_calls::nonblocking);
    known_ = &known;
    ++known_->in_flight;
    enlist();
    try {
      run_->advance_to_message();
    } catch (...) {  // for want of memory
      forget();
      throw;
    }
    run_->pause();
  }

  void go_on() noexcept override {
    bool may = false;
    exclusive_use const use = w_.mesh->use(may);
    if (may) run_->test();
  }

  bool test() noexcept override {
    bool may = false;
    exclusive_use const use = w_.mesh->use(may);
    return may && run_->test();
  }

  void end() override;

 private:
  friend class flight_records<Exec, T>;

  void forget() {
    leave();
    run_.reset();
    --known_->in_flight;
  }

  // The call's plan may end with the call; nobody but a tool asks for it later.
  [[gnu::cold, gnu::noinline]] void keep_plan() {
    if (plan_copy_ == nullptr) plan_copy_ = std::make_unique<planner::einsum_plan>();
    *plan_copy_ = {};
    for (planner::spec const& s : plan_.operands) plan_copy_->operands.push_back(s);
    plan_copy_->result = *plan_.result;
    for (planner::planned_step const& s : plan_.steps) plan_copy_->steps.push_back(s);
    plan_copy_->sizes = w_.sizes;
    plan_copy_->how = plan_.how;
    plan_copy_->element_weight = plan_.element_weight;
    plan_ = planner::plan_view(*plan_copy_);
  }

  Exec exec_{};
  execution_context w_{};
  planner::plan_view plan_{};
  std::unique_ptr<planner::einsum_plan> plan_copy_;
  std::unique_ptr<known_schedule> own_;  // of what no schedule_memory keeps
  known_schedule* known_ = nullptr;
  std::optional<running<Exec, T>> run_;
  flight_record* next_free_ = nullptr;
};

/// The records of one host thread.
template <class Exec, class T>
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
    while (free_ != nullptr) delete std::exchange(free_, free_->next_free_);
  }

  flight_record<Exec, T>& take() {
    if (free_ == nullptr) return *new flight_record<Exec, T>;
    return *std::exchange(free_, free_->next_free_);
  }
  void give_back(flight_record<Exec, T>& record) {
    record.next_free_ = free_;
    free_ = &record;
  }

 private:
  flight_record<Exec, T>* free_ = nullptr;  // as many as were in flight at once
};

template <class Exec, class T>
void flight_record<Exec, T>::end() {
  struct ending {
    flight_record& record;
    ~ending() {
      if (record.run_) record.forget();
      flight_records<Exec, T>::instance().give_back(record);
    }
  } const at_last{*this};
  if (!run_) return;  // it has not begun, for want of memory
  exclusive_use const use = w_.mesh->use(w_.operation);
  run_->resume();
  run_->run_to_end();
}

template <class Exec, class T>
run_in_flight begin_flight(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                           T const* const* operands, T* result, update<T> const& how, schedule_memory& memory,
                           planner::strided_box const* given) {
  require_same_call<T>(w, plan);
  flight_record<Exec, T>& record = flight_records<Exec, T>::instance().take();
  run_in_flight begun(record);
  record.begin(exec, w, plan, operands, result, how, memory, given);
  return begun;
}

}  // namespace detail

/// Begins the plan of an einsum, a reduction or a reshard on dense local blocks (`run`, in execute.hpp). It comes back
/// when the first message is under way; without one, when all is done but to wait for the device.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    T const* const* operands, T* result, update<T> const& how, schedule_memory& memory) {
  return detail::begin_flight(exec, w, plan, operands, result, how, memory, nullptr);
}

/// The same for blocks that may be parts of larger ones, or lie otherwise.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    region<T const> const* operands, region<T> const& result, update<T> const& how,
                    schedule_memory& memory) {
  planner::strided_box given[planner::result_buffer + 1];
  T const* data[planner::max_operands]{};
  for (int k = 0; k < plan.operands.size(); ++k) {
    given[k] = operands[k];
    data[k] = operands[k].data;
  }
  given[planner::result_buffer] = result;
  return detail::begin_flight(exec, w, plan, data, result.data, how, memory, given);
}

/// The same for operands of which some stand under labels that repeat.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    operand_source<T> const* operands, T* result, update<T> const& how, schedule_memory& memory) {
  region<T const> blocks[planner::max_operands];
  region<T> const target = detail::regions_of(w, plan, operands, result, blocks);
  return begin(exec, w, plan, blocks, target, how, memory);
}

/// The same for the steps of a reshard from a dense block into another.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::reshard_steps const& steps,
                    planner::spec const& from, T const* source, T* target, schedule_memory& memory) {
  planner::spec const& to = steps.empty() ? from : steps[steps.size() - 1].to;
  return begin(exec, w, planner::plan_view(from, to, steps), &source, target, update<T>(), memory);
}

/// Within a limit of workspace nothing is in flight: it runs to its end.
template <class Exec, class Source, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, bounded_plan const& bounded, Source const* operands,
                    T* result, update<T> const& how, schedule_memory& memory) {
  run(exec, w, bounded, operands, result, how, memory);
  return {};
}

template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, bounded_steps const& bounded,
                    planner::spec const& from, T const* source, T* target, schedule_memory& memory) {
  run(exec, w, bounded, from, source, target, memory);
  return {};
}

}  // namespace ostraka::engine
