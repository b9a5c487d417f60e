// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The associative operations that reduce many values to one: the elements along an axis, or the parts of a
/// partial tensor on its devices. A value, so that neither plans nor kernels are instantiated per operation.

#include <cstdint>

namespace ostraka {

/// How several values are reduced to one. The last two work bit by bit, so for bools they are "all" and "any".
enum class reduction : std::uint8_t { sum, max, min, prod, bit_and, bit_or };

}  // namespace ostraka
