// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Functions of one element: `os::gelu(A)` of a tensor, `os::gelu(0.5f)` of a number, also in device code, and
/// `os::map(os::gelu, A)`. Each is an object of its operation, a struct followed by its derivatives
/// (element_function.hpp). Each file has a family:
///
///     floating-point numbers       exp expm1 log log1p erf sqrt rsqrt sin cos tanh sigmoid silu gelu gelu_tanh pow
///     and integers                 relu floor ceil round isnan isfinite, clamp (clamp.hpp)
///     complex ones                 abs square exp log sqrt sin cos tanh isnan isfinite
///
/// Elements of 16 bits are computed as floats. NaN stays NaN, even in relu.

#include <ostraka/operations/elements/activations.hpp>
#include <ostraka/operations/elements/exponentials.hpp>
#include <ostraka/operations/elements/powers.hpp>
#include <ostraka/operations/elements/rounding.hpp>
