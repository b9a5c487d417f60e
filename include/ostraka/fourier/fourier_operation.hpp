// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::fft and its like as a name, by which its derivative is found, and the length that
/// the derivative gives it.

#include <cstdint>

#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::operation {

/// `Along`: the axis that is transformed, as it lies. `Named`: the result's dimensions, or only its new axis.
template <fourier_kind Kind, class Along, class Named>
struct fourier;

}  // namespace ostraka::operation

namespace ostraka::detail {

/// The n of a real result, which derivatives know. For a block it may differ from that of the axis' type.
struct fourier_length {
  std::int64_t n;
};

}  // namespace ostraka::detail
