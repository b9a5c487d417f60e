// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loops whose iterations are independent, which compilers cannot deduce.

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ostraka::engine {

/// Calls f(i) for all i < n. No call may throw, or read data that another call writes. GCC vectorises this loop with
/// -O2, unlike plain loops of unknown length. Values that f captures by copy stay in registers. It is a function and
/// not a macro before a loop, where GCC would turn each object of a class, such as a 16-bit number, into an array.
/// clang needs no pragma, and would warn about each loop that it cannot vectorise.
#if defined(__CUDACC__)
#  pragma nv_exec_check_disable  // f may be host code only
#endif
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_independent(std::int64_t n, F const& f) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(_OPENMP)
#  pragma omp simd
#elif defined(__GNUC__) && !defined(__clang__)
#  pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

}  // namespace ostraka::engine
