// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The associative operations that make one value of many: of the elements along an axis, or of what devices
/// hold of a partial tensor. A value, so that neither plans nor kernels are instantiated per operation.

#include <cstdint>

namespace ostraka {

/// How values that meet are made one. The last two work bit by bit, so that of bools they are
/// "all" and "any".
enum class reduction : std::uint8_t { sum, max, min, prod, bit_and, bit_or };

}  // namespace ostraka
