// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A run in flight, as an object that can be moved. `begin` does the work of `run` in execute.hpp up to the
/// first message, and returns; `wait` does the rest. The run owns everything that it needs, except the blocks and the
/// mesh, which the caller keeps alive. Several runs of one call may be in flight at once.
///
///     run_in_flight gathered = begin(exec, w, plan, operands, result, how, memory);   A[I, J] <- A[I_X, J]
///     …                                                                               C[I, K] <- C[I, K] + …
///     gathered.wait();

#include <Kokkos_Core.hpp>

#include <memory>
#include <optional>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/moves/flight.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/running.hpp>

namespace ostraka::engine {

namespace detail {

/// A run with everything that it refers to.
template <class Exec, class T>
class flight_record final : public flight_on<Exec> {
 public:
  void begin(execution_context const& w, planner::plan_view const& plan, T const* const* operands, T* result,
             update<T> const& how, schedule_memory& memory, run_functions<Exec, T> const& functions,
             planner::strided_box const* given) {
    w_ = w;
    plan_ = plan;
    if (is_profiled(w)) keep_plan();
    known_schedule& known = memory.of<Exec>(w, plan, how, functions, given, own_, mpi_calls::nonblocking);
    run_.emplace(this->exec(), w_, plan_, known, operands, result, how, functions, profiled_as::operation, nullptr,
                 mpi_calls::nonblocking);
    known_ = &known;
    ++known_->in_flight;
    this->enlist(*w.mesh, w.operation);
    try {
      run_->advance_to_message();
    } catch (...) {  // out of memory
      this->leave();
      forget();
      throw;
    }
    run_->pause();
  }

  flight_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return run_->test(); }
  void finish() override {
    run_->resume();
    run_->run_to_end();
  }
  void give_back() noexcept override {
    forget();
    flight_records<flight_record>::instance().give_back(*this);
  }

  void forget() {
    run_.reset();
    --known_->in_flight;
  }

  // Keeps a copy of the plan, which may end with the call; only tools need it later.
  [[gnu::cold, gnu::noinline]] void keep_plan() {
    if (plan_copy_ == nullptr) plan_copy_ = std::make_unique<planner::einsum_plan>();
    *plan_copy_ = {};
    for (planner::spec const& s : plan_.operands) plan_copy_->operands.push_back(s);
    plan_copy_->result = *plan_.result;
    for (planner::planned_step const& s : plan_.steps) plan_copy_->steps.push_back(s);
    plan_copy_->sizes = w_.sizes;
    plan_copy_->how = plan_.how;
    plan_copy_->element_weight = plan_.element_weight;
    plan_copy_->directions = plan_.directions;
    plan_ = planner::plan_view(*plan_copy_);
  }

  execution_context w_{};
  planner::plan_view plan_{};
  std::unique_ptr<planner::einsum_plan> plan_copy_;
  std::unique_ptr<known_schedule> own_;  // for schedules that no schedule_memory keeps
  known_schedule* known_ = nullptr;
  std::optional<running<Exec, T>> run_;
};

template <class Exec, class T>
run_in_flight begin_flight(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                           T const* const* operands, T* result, update<T> const& how, schedule_memory& memory,
                           run_functions<Exec, T> const& functions, planner::strided_box const* given) {
  if (compares_calls(w)) require_same_call<T>(w, plan);  // comparing only first runs would wait for the others
  return begin_record<flight_record<Exec, T>>(exec, [&](flight_record<Exec, T>& record) {
    record.begin(w, plan, operands, result, how, memory, functions, given);
  });
}

}  // namespace detail

/// Begins the plan of an einsum, a reduction or a reshard on dense local blocks (`run`, in execute.hpp). It returns
/// when the first message is in flight; without messages, when everything is done except waiting for the device.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    T const* const* operands, T* result, update<T> const& how, schedule_memory& memory,
                    run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  return detail::begin_flight(exec, w, plan, operands, result, how, memory, functions, nullptr);
}

/// The same for blocks that may be parts of larger ones, or have other strides.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    strided_block<T const*> const* operands, strided_block<T*> const& result, update<T> const& how,
                    schedule_memory& memory, run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  planner::strided_box given[planner::result_buffer + 1];
  T const* data[planner::max_operands]{};
  for (int k = 0; k < plan.operands.size(); ++k) {
    given[k] = operands[k];
    data[k] = operands[k].data;
  }
  given[planner::result_buffer] = result;
  return detail::begin_flight(exec, w, plan, data, result.data, how, memory, functions, given);
}

/// The same for operands that may have repeated labels.
template <class Exec, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
                    operand_source<T> const* operands, T* result, update<T> const& how, schedule_memory& memory,
                    run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  strided_block<T const*> blocks[planner::max_operands];
  strided_block<T*> const target = detail::blocks_of(w, plan, operands, result, blocks);
  return begin(exec, w, plan, blocks, target, how, memory, functions);
}

/// The same within a limit of workspace. Nothing is then in flight: it runs to the end.
template <class Exec, class Source, class T>
run_in_flight begin(Exec const& exec, execution_context const& w, bounded_plan const& bounded, Source const* operands,
                    T* result, update<T> const& how, schedule_memory& memory,
                    run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  run(exec, w, bounded, operands, result, how, memory, functions);
  return {};
}

}  // namespace ostraka::engine
