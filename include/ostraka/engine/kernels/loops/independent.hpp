// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loops that tell compilers what they cannot deduce.

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ostraka::engine {

/// Calls f(i) for all i < n; no call reads what another one writes, or throws. With -O2 GCC, too, vectorises this loop;
/// it vectorises no plain loop of unknown length. Values that f captures by copy stay in registers. It is a function
/// and not a macro before a loop: GCC makes an array of each object of a class in such a loop, and a number of 16 bits
/// is such an object. clang needs no pragma for it, and would warn the program of each loop that it cannot vectorise.
#if defined(__CUDACC__)
#  pragma nv_exec_check_disable  // f may be of the host alone
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
