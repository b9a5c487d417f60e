// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// BLAS products that a program can switch off. Include it in one file of a program: it defines the library's functions
/// by the names that the linker sees, since headers of BLAS libraries declare different types of arguments.

#include <dlfcn.h>

namespace bench {

inline bool blas_is_null = false;
inline long blas_calls = 0;

}  // namespace bench

extern "C" {

// Without a name that only the library defines, the linker would leave it out.
double any_of_blas(int n, double const* x, int step_x, double const* y, int step_y) __asm__("cblas_ddot");
inline auto* volatile kept_for_blas = &any_of_blas;

void null_dgemm(int order, int a_is, int b_is, int m, int n, int k, double alpha, double const* a, int lda,
                double const* b, int ldb, double beta, double* c, int ldc) __asm__("cblas_dgemm");
void null_dgemv(int order, int a_is, int m, int n, double alpha, double const* a, int lda, double const* x, int step_x,
                double beta, double* y, int step_y) __asm__("cblas_dgemv");

void null_dgemm(int order, int a_is, int b_is, int m, int n, int k, double alpha, double const* a, int lda,
                double const* b, int ldb, double beta, double* c, int ldc) {
  static auto const real = reinterpret_cast<decltype(&null_dgemm)>(dlsym(RTLD_NEXT, "cblas_dgemm"));
  ++bench::blas_calls;
  if (!bench::blas_is_null) real(order, a_is, b_is, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void null_dgemv(int order, int a_is, int m, int n, double alpha, double const* a, int lda, double const* x, int step_x,
                double beta, double* y, int step_y) {
  static auto const real = reinterpret_cast<decltype(&null_dgemv)>(dlsym(RTLD_NEXT, "cblas_dgemv"));
  ++bench::blas_calls;
  if (!bench::blas_is_null) real(order, a_is, m, n, alpha, a, lda, x, step_x, beta, y, step_y);
}

}  // extern "C"
