// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. On which instance of an execution space (a stream of a GPU) this host thread's operations run: an
/// application's for the length of a scope, else the default one. It is handed out here and nowhere else.

#include <utility>

namespace ostraka::engine {

namespace detail {

/// Null where the default one is used. Of a host thread.
template <class Exec>
Exec const*& instance_given() {
  static thread_local constinit Exec const* given = nullptr;
  return given;
}

}  // namespace detail

/// The instance that an operation takes, when it begins, and keeps.
template <class Exec>
Exec instance() {
  Exec const* const given = detail::instance_given<Exec>();
  return given == nullptr ? Exec() : *given;
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
  Exec const* before_;
};

}  // namespace ostraka::engine
