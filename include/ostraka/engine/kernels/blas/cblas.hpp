// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. General matrix products of a CBLAS library, one name for the four element types: C[m, n] = alpha A[m, k]
/// B[k, n] + beta C.

#ifndef OSTRAKA_ENABLE_CBLAS
#define OSTRAKA_ENABLE_CBLAS 0
#endif

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#if OSTRAKA_ENABLE_CBLAS
#include <cblas.h>
#endif

#include <ostraka/engine/kernels/blas/matrix_product.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine {

/// True if a library multiplies matrices of T in host memory.
template <class T>
inline constexpr bool has_cblas_gemm = OSTRAKA_ENABLE_CBLAS != 0 &&
                                       (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                        std::is_same_v<T, Kokkos::complex<float>> ||
                                        std::is_same_v<T, Kokkos::complex<double>>);

/// The largest extent or leading dimension that CBLAS takes: its int. Tests lower it.
[[gnu::visibility("default")]] inline std::int64_t cblas_limit = 2147483647;

#if OSTRAKA_ENABLE_CBLAS

/// C <- alpha A B + beta C, all three stored by rows (or all by columns). With beta = 0, C is not read.
template <class T>
void cblas_gemm(bool by_rows, matrix_view a_view, matrix_view b_view, std::int64_t m, std::int64_t n, std::int64_t k,
                T const* a, T const* b, update<T> const& how, T* c, std::int64_t c_leading) {
  static_assert(has_cblas_gemm<T>);
  CBLAS_ORDER const order = by_rows ? CblasRowMajor : CblasColMajor;
  CBLAS_TRANSPOSE const ta = a_view.transposed ? CblasTrans : CblasNoTrans;
  CBLAS_TRANSPOSE const tb = b_view.transposed ? CblasTrans : CblasNoTrans;
  int const rows = static_cast<int>(m);
  int const columns = static_cast<int>(n);
  int const inner = static_cast<int>(k);
  int const lda = static_cast<int>(a_view.leading);
  int const ldb = static_cast<int>(b_view.leading);
  int const ldc = static_cast<int>(c_leading);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(order, ta, tb, rows, columns, inner, how.alpha, a, lda, b, ldb, how.beta, c, ldc);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(order, ta, tb, rows, columns, inner, how.alpha, a, lda, b, ldb, how.beta, c, ldc);
  else if constexpr (std::is_same_v<T, Kokkos::complex<float>>)
    cblas_cgemm(order, ta, tb, rows, columns, inner, &how.alpha, a, lda, b, ldb, &how.beta, c, ldc);
  else
    cblas_zgemm(order, ta, tb, rows, columns, inner, &how.alpha, a, lda, b, ldb, &how.beta, c, ldc);
}

#endif

/// The host's library. It does not know execution space instances, so it waits for the kernels started on this one.
struct cblas {
  template <class T>
  static constexpr bool multiplies = has_cblas_gemm<T>;

  static std::int64_t limit() { return cblas_limit; }

  template <class Exec, class T>
  static void multiply(Exec const& exec, [[maybe_unused]] matrix_product const& p, [[maybe_unused]] T const* a,
                       [[maybe_unused]] T const* b, [[maybe_unused]] update<T> const& how, [[maybe_unused]] T* c) {
    fence(exec);
#if OSTRAKA_ENABLE_CBLAS
    for (std::int64_t i = 0; i < p.batch; ++i)
      cblas_gemm(p.by_rows, p.a, p.b, p.m, p.n, p.k, a + i * p.step[0], b + i * p.step[1], how, c + i * p.step[2],
                 p.c_leading);
#endif
  }
};

template <class Exec>
struct library_of_space<Exec, std::enable_if_t<runs_on_host<Exec>>> {
  using type = cblas;
};

}  // namespace ostraka::engine
