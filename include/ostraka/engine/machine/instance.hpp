// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Selects the instance of an execution space (a stream of a GPU) that this host thread's operations run on:
/// the application's for the length of a scope, otherwise the default one. No other code chooses an instance.
///
/// An operation may return while its kernels still run on a GPU: its results are ready in the order of the instance.
/// Where a scope begins or ends, the host waits for such kernels, so that those on the next instance see the results.

#include <cstdint>
#include <utility>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

/// Returns the instance for an operation. An operation takes it when it begins, and keeps it.
template <class Exec>
Exec instance() {
  void const* const given = instance_of_thread<Exec>().given;
  return given == nullptr ? Exec() : *static_cast<Exec const*>(given);
}

/// Sets another instance for the length of a scope.
template <class Exec>
class instance_scope {
 public:
  explicit instance_scope(Exec const& instance) : instance_(instance) {
    fence_results();
    instance_in_use& now = instance_of_thread<Exec>();
    given_before_ = std::exchange(now.given, &instance_);
    scope_before_ = std::exchange(now.scope, ++now.scopes);
  }
  ~instance_scope() {
    fence_results();
    instance_of_thread<Exec>().given = given_before_;
    instance_of_thread<Exec>().scope = scope_before_;
  }
  instance_scope(instance_scope const&) = delete;
  instance_scope& operator=(instance_scope const&) = delete;

 private:
  static void fence_results() {
    if (std::exchange(instance_of_thread<Exec>().unfenced, false)) instance<Exec>().fence();
  }

  Exec instance_;
  void const* given_before_;
  std::uint64_t scope_before_;
};

}  // namespace ostraka::engine
