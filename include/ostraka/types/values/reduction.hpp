// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The associative operations that reduce many values to one: the elements along an axis, or the parts of a
/// partial tensor on its devices. They are values, so that plans and kernels are not instantiated for each one.

#include <cstdint>

namespace ostraka {

/// The operation that reduces several values to one. The last two work bit by bit, so for bools they are "all" and
/// "any".
enum class reduction : std::uint8_t { sum, max, min, prod, bit_and, bit_or };

}  // namespace ostraka
