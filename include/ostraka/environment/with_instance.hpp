// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::with_instance const scope(instance);`: until the scope ends, operations that this host thread calls
/// run on an execution space instance of the application, for instance a stream of a GPU.

#include <ostraka/engine/machine/instance.hpp>

namespace ostraka {

/// During its lifetime, operations of the calling host thread on tensors of this execution space run on this instance.
/// Operations that begin then keep it until they are waited for. An operation reads the results of kernels on the
/// instance without a fence. Before the operation, the application has to fence kernels on other instances that write
/// its operands. On a GPU, a result is ready in the order of the instance when the operation has returned: fence the
/// instance before kernels on another one read the result. Scopes nest. When one begins or ends, earlier operations
/// have ended.
template <class Exec>
class [[nodiscard]] with_instance {
 public:
  /// Begins the scope: from now on, operations run on this instance.
  explicit with_instance(Exec const& instance) : scope_(instance) {}

 private:
  engine::instance_scope<Exec> scope_;
};

}  // namespace ostraka
