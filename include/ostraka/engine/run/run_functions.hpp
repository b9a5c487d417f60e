// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A table of the functions of a run that only some plans need. An operation whose plan is known at compile
/// time names the functions for the kinds that its schedules may hold (plan/lowering/kinds.hpp), so that a program
/// compiles no others. The file also defines the memory for the message in flight, whatever its kind.

#include <algorithm>
#include <cstddef>
#include <new>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/lowering/kinds.hpp>
#include <ostraka/plan/lowering/schedule.hpp>

namespace ostraka::engine {

template <class Exec, class T>
class running;

/// The functions for messages of one kind.
template <class Exec, class T>
struct message_functions {
  using run = running<Exec, T>;

  void (run::*start)(planner::schedule const&, planner::scheduled_message const&, communicator const&) = nullptr;
  bool (run::*test)() = nullptr;
  void (run::*finish)() = nullptr;
};

/// The functions for all kinds. Kinds that no schedule of the plan holds have none.
template <class Exec, class T>
struct run_functions {
  message_functions<Exec, T> gather{};
  message_functions<Exec, T> all_reduce{};
  message_functions<Exec, T> scatter{};
  message_functions<Exec, T> exchange{};
  void (running<Exec, T>::*reduce)(planner::product const&, reduction, planner::scaling) = nullptr;
  void (*contract)(Exec const&, contraction const&, T const*, T const*, T*, update<T> const&, plan_ticket&,
                   product_kernels<Exec, T> const&) = nullptr;
  product_kernels<Exec, T> products{};
  planner::lowering_functions<planner::schedule> const* lowering = nullptr;
};

namespace detail {

/// Memory for an object of one of these types at a time.
template <class... Messages>
class message_storage {
 public:
  message_storage() = default;
  message_storage(message_storage const&) = delete;
  message_storage& operator=(message_storage const&) = delete;
  ~message_storage() { clear(); }

  template <class Message>
  [[gnu::cold]] Message& make() {
    clear();
    Message* const made = ::new (static_cast<void*>(bytes_)) Message;  // not zeroed first
    destroy_ = &destroy<Message>;
    return *made;
  }
  /// @pre the object was made as a Message
  template <class Message>
  Message& as() {
    return *std::launder(reinterpret_cast<Message*>(bytes_));
  }
  void clear() {
    if (destroy_ != nullptr) destroy_(bytes_);
    destroy_ = nullptr;
  }

 private:
  template <class Message>
  [[gnu::cold]] static void destroy(void* message) {
    static_cast<Message*>(message)->~Message();
  }

  alignas(Messages...) std::byte bytes_[std::max({sizeof(Messages)...})];
  void (*destroy_)(void*) = nullptr;
};

}  // namespace detail

/// Returns the functions for all kinds, for plans made at run time.
template <class Exec, class T>
run_functions<Exec, T> const& every_function() {
  static constexpr run_functions<Exec, T> every = running<Exec, T>::template functions_of<planner::kinds::all>();
  return every;
}

/// Returns the functions for the kinds that a plan's schedules may hold. ostraka::compiled has all functions, and a
/// program that links it instantiates no others.
template <unsigned Kinds, class Exec, class T>
run_functions<Exec, T> const& functions_of_kinds() {
#ifdef OSTRAKA_COMPILED
  return every_function<Exec, T>();
#else
  static constexpr run_functions<Exec, T> some = running<Exec, T>::template functions_of<Kinds>();
  return some;
#endif
}

}  // namespace ostraka::engine
