// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Fourier transforms along named axes, whole or divided (docs/fft.md). Their derivatives are in
/// <ostraka/gradient.hpp>. Programs that link ostraka::fftw transform by FFTW, others by the library's own code.
///
///     auto spectrum = os::fft<I, K>(A);                    // along an axis that is whole
///     auto spectrum = os::fft<I/X, K, J/X>(A);             // along a divided one; the result is transposed
///     auto spectrum = os::fft<os::dims<I/X, J>, K, L/X>(A);  // along both
///     auto u = os::irfft<K, I>(os::rfft<I, K>(u), I = n);  // of real numbers, there and back

#include <ostraka/ostraka.hpp>

#include <ostraka/fourier/fourier_into.hpp>
#include <ostraka/fourier/fourier_transform.hpp>
