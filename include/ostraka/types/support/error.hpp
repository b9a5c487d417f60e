// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The exception of a program that is wrong in a way that only the run time can see (extents, sizes of
/// meshes). Thrown before any communication and on every device alike; the text reads "operation: rule; remedy".

#include <stdexcept>

namespace ostraka {

/// An operation was asked for that its extents or its mesh do not allow.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ostraka
