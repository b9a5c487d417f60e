// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loops of which compilers are told what they cannot find out.

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ostraka::engine {

/// f(i) for all i < n, none of which reads what another one writes, or throws. With -O2 GCC, too, makes vectors of it,
/// which it makes of no plain loop whose length it does not know. What f has by value stays in registers. A function
/// and no macro before a loop: GCC makes an array of each object of a class in such a loop, as a number of 16 bits is
/// one. clang needs no word for it, and would warn the program of each loop that it finds no vectors for.
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
