// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::fft and its like, declared only: its derivative is found by this type.

#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::operation {

/// `Along`: the axis that is transformed, as it lies. `Named`: the result's dimensions, or only its new axis.
template <fourier_kind Kind, class Along, class Named>
struct fourier;

}  // namespace ostraka::operation
