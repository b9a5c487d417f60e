// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The fastest register tiles for an element type on this processor: those in x86/ if they are part of the
/// build, otherwise plain loops.

#include <type_traits>

#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/micro_kernel.hpp>
#if OSTRAKA_DETAIL_X86
#include <ostraka/engine/kernels/x86/wide_micro_kernel.hpp>
#endif

namespace ostraka::engine::detail {

template <class T>
micro_kernel<T> choose_micro_kernel() {
#if OSTRAKA_DETAIL_X86
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    if (widest_vectors() == vector_width::avx512) return micro_kernel_64<T>();
    if (widest_vectors() == vector_width::avx2) return micro_kernel_32<T>();
  }
#endif
  return plain_micro_kernel<T>();
}

}  // namespace ostraka::engine::detail
