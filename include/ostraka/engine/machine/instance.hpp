// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. On which instance of an execution space (a stream of a GPU) this host thread's operations run: an
/// application's for the length of a scope, else the default one. It is handed out here and nowhere else.

#include <utility>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

namespace detail {

/// Null where the default one is used. Of a host thread.
template <class Exec>
void const*& instance_given() {
  return shared_by_type<number_of_type<Exec>()>::instance;
}

}  // namespace detail

/// The instance that an operation takes, when it begins, and keeps.
template <class Exec>
Exec instance() {
  void const* const given = detail::instance_given<Exec>();
  return given == nullptr ? Exec() : *static_cast<Exec const*>(given);
}

/// Another instance for the length of a scope.
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
