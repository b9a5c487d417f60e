// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Barrier: no member of a group continues before all have arrived.

#include <ostraka/engine/groups/communicator.hpp>

namespace ostraka::engine {

inline void barrier(communicator const& members) {
  if (members.size() == 1 || members.is_dry()) return;
  members.enter();
  members.carried()->barrier();
}

}  // namespace ostraka::engine
