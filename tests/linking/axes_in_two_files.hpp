// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The code that both files of such a program share.

#include <ostraka/types/axes/axis.hpp>

namespace os = ostraka;

/// A template over an axis, of which the linker keeps one instance.
template <class Axis>
[[gnu::noinline]] long planned(Axis) {
  return static_cast<long>(Axis::planned_extent);
}

[[gnu::visibility("default")]] bool second_is_right();
