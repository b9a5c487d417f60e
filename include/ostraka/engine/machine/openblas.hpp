// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What OpenBLAS tells about itself, if the CBLAS that is linked is OpenBLAS. Its own functions are looked for
/// while linking and may be absent, which is why they are declared here and not taken from its cblas.h.

#ifndef OSTRAKA_ENABLE_CBLAS
#define OSTRAKA_ENABLE_CBLAS 0
#endif

#include <string_view>

#if OSTRAKA_ENABLE_CBLAS && defined(__ELF__) && defined(__GNUC__)
#define OSTRAKA_DETAIL_ASKS_OPENBLAS 1
extern "C" {
int openblas_get_parallel() __attribute__((weak));
int openblas_get_num_threads() __attribute__((weak));
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
}
#endif

namespace ostraka::engine {

/// Whose threads the BLAS library works with.
enum class blas_pool { unknown, none, its_own, openmp };

}  // namespace ostraka::engine

namespace ostraka::engine::openblas {

#ifdef OSTRAKA_DETAIL_ASKS_OPENBLAS

inline blas_pool pool() {
  if (!openblas_get_parallel) return blas_pool::unknown;
  switch (openblas_get_parallel()) {
    case 0: return blas_pool::none;
    case 1: return blas_pool::its_own;
    case 2: return blas_pool::openmp;
    default: return blas_pool::unknown;
  }
}

inline int threads() { return openblas_get_num_threads ? openblas_get_num_threads() : 1; }

inline void set_threads(int n) {
  if (openblas_set_num_threads) openblas_set_num_threads(n);
}

inline std::string_view core() { return openblas_get_corename ? openblas_get_corename() : ""; }

#else

inline blas_pool pool() { return blas_pool::unknown; }
inline int threads() { return 1; }
inline void set_threads(int) {}
inline std::string_view core() { return {}; }

#endif

}  // namespace ostraka::engine::openblas
