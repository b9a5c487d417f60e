// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::with_instance const scope(instance);`: until the scope ends, operations that this host thread calls
/// run on an execution space instance of the application's, a stream of a GPU for instance.

#include <ostraka/engine/machine/instance.hpp>

namespace ostraka {

/// As long as it lives, operations of the calling host thread on tensors of this execution space take this instance;
/// those that are begun keep it until they are waited for. What kernels on the instance have written is read without a
/// fence; what other instances write is fenced by whoever started them, before the operation. A result may be read on
/// any instance when the operation has returned, which waits for this instance alone. Scopes nest.
template <class Exec>
class [[nodiscard]] with_instance {
 public:
  explicit with_instance(Exec const& instance) : scope_(instance) {}

 private:
  engine::instance_scope<Exec> scope_;
};

}  // namespace ostraka
