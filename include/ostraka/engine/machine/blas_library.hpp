// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds out which CBLAS runs, the linked one or one that the system has substituted since, and reads
/// OpenBLAS's settings. Each library is identified by a symbol that it alone exports, as in cmake/OstrakaCblas.cmake.
/// The linker looks up these symbols, and they may be absent, so they are declared here and not taken from a cblas.h.
/// Other libraries' symbols serve only by their addresses; they are declared under names of ours, so that the
/// libraries' headers cannot conflict.

#ifndef OSTRAKA_ENABLE_CBLAS
#define OSTRAKA_ENABLE_CBLAS 0
#endif

#include <string>
#include <string_view>

#if OSTRAKA_ENABLE_CBLAS && defined(__ELF__) && defined(__GNUC__)
#define OSTRAKA_DETAIL_ASKS_OPENBLAS 1
extern "C" {
int openblas_get_parallel() __attribute__((weak));
int openblas_get_num_threads() __attribute__((weak));
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
char* openblas_get_config() __attribute__((weak));
extern char const ostraka_detail_mkl __asm__("MKL_Get_Version") __attribute__((weak));
extern char const ostraka_detail_blis __asm__("bli_info_get_version_str") __attribute__((weak));
extern char const ostraka_detail_flexiblas __asm__("flexiblas_get_version") __attribute__((weak));
extern char const ostraka_detail_reference __asm__("CBLAS_CallFromC") __attribute__((weak));
}
#endif

namespace ostraka::engine {

/// The thread pool of the BLAS library.
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

namespace ostraka::engine {

/// Returns "OpenBLAS 0.3.21", "MKL", "netlib's reference BLAS"; empty without a CBLAS.
[[gnu::cold]] inline std::string blas_library() {
#ifdef OSTRAKA_DETAIL_ASKS_OPENBLAS
  if (openblas_get_config) {
    std::string_view const config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
    std::string_view::size_type const name_ends = config.find(' ');
    return std::string(config.substr(0, name_ends == config.npos ? name_ends : config.find(' ', name_ends + 1)));
  }
  if (&ostraka_detail_mkl) return "MKL";
  if (&ostraka_detail_blis) return "BLIS";
  if (&ostraka_detail_flexiblas) return "FlexiBLAS";
  if (&ostraka_detail_reference) return "netlib's reference BLAS";
#endif
  return OSTRAKA_ENABLE_CBLAS != 0 ? "a CBLAS that does not tell its name" : "";
}

}  // namespace ostraka::engine
