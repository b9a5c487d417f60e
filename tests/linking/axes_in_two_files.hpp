// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What both files of such a program have in common.

#include <ostraka/types/axes/axis.hpp>

namespace os = ostraka;

/// What a program's functions do with an axis: a template, of which the linker keeps one instance.
template <class Axis>
[[gnu::noinline]] long planned(Axis) {
  return static_cast<long>(Axis::planned_extent);
}

[[gnu::visibility("default")]] bool second_is_right();
