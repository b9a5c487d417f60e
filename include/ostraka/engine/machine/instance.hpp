// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Selects the instance of an execution space (a stream of a GPU) that this host thread's operations run on:
/// the application's for the length of a scope, otherwise the default one. No other code chooses an instance.

#include <utility>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

namespace detail {

/// The calling host thread's instance; null if it uses the default one.
template <class Exec>
void const*& instance_given() {
  return shared_by_type<number_of_type<Exec>()>::instance;
}

}  // namespace detail

/// Returns the instance for an operation. An operation takes it when it begins, and keeps it.
template <class Exec>
Exec instance() {
  void const* const given = detail::instance_given<Exec>();
  return given == nullptr ? Exec() : *static_cast<Exec const*>(given);
}

/// Sets another instance for the length of a scope.
template <class Exec>
class instance_scope {
 public:
  explicit instance_scope(Exec const& instance)
      : instance_(instance), before_(std::exchange(detail::instance_given<Exec>(), &instance_)) {}
  ~instance_scope() { detail::instance_given<Exec>() = before_; }
  instance_scope(instance_scope const&) = delete;
  instance_scope& operator=(instance_scope const&) = delete;

 private:
  Exec instance_;
  void const* before_;
};

}  // namespace ostraka::engine
