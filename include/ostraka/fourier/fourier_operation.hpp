// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::fft and its like as a name, by which its derivative is found.

#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::operation {

/// `Along`: the axis that is transformed, as it lies. `Named`: the result's dimensions, or its new axis alone.
template <fourier_kind Kind, class Along, class Named>
struct fourier;

}  // namespace ostraka::operation
