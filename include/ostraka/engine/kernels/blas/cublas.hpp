// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Matrix products of cuBLAS, on the stream of the execution space instance. Sums of 16-bit elements have 32
/// bits. It has not run on a GPU yet.

#ifndef OSTRAKA_ENABLE_CUBLAS
#  define OSTRAKA_ENABLE_CUBLAS 0
#endif

#include <Kokkos_Core.hpp>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)

#  include <cublas_v2.h>

#  include <cstdint>
#  include <string>
#  include <type_traits>

#  include <ostraka/engine/kernels/blas/column_major.hpp>
#  include <ostraka/engine/kernels/blas/matrix_product.hpp>
#  include <ostraka/engine/kernels/loops/stream.hpp>
#  include <ostraka/engine/kernels/scaled_update.hpp>
#  include <ostraka/engine/memory/library_handles.hpp>
#  include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

struct cublas {
  /// The names in cuBLAS of an element type and of the type in which it computes.
  struct element_type {
    bool known;
    cudaDataType_t data;
    cublasComputeType_t compute;
  };

  template <class T>
  static constexpr element_type type_of() {
    if constexpr (std::is_same_v<T, float>)
      return {true, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    else if constexpr (std::is_same_v<T, double>)
      return {true, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    else if constexpr (std::is_same_v<T, Kokkos::complex<float>>)
      return {true, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    else if constexpr (std::is_same_v<T, Kokkos::complex<double>>)
      return {true, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    else if constexpr (std::is_same_v<T, float16>)
      return {true, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    else if constexpr (std::is_same_v<T, bfloat16>)
      return {true, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    else
      return {false, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }

  /// Returns "cuBLAS 13.1", the version that the program was compiled against.
  static std::string name() { return join_text("cuBLAS ", CUBLAS_VER_MAJOR, '.', CUBLAS_VER_MINOR); }

  template <class T>
  static constexpr bool multiplies = type_of<T>().known;

  static std::int64_t limit() { return 2147483647; }

  template <class T>
  static void multiply(Kokkos::Cuda const& exec, matrix_product const& p, T const* a, T const* b, update<T> const& how,
                       T* c) {
    constexpr element_type type = type_of<T>();
    column_major_call const call = column_major(p);
    current_device const here(exec.cuda_device());
    handle const h = library_handles<cublas>::of(exec.cuda_device());
    require(cublasSetStream(h, exec.cuda_stream()), "cublasSetStream");
    auto const narrow = [](std::int64_t n) { return static_cast<int>(n); };
    auto const op = [](column_major_call::matrix const& m) { return m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    auto const of = [&](column_major_call::matrix const& m) { return m.operand == 0 ? a : b; };
    require(cublasGemmStridedBatchedEx(h, op(call.x), op(call.y), narrow(call.rows), narrow(call.columns),
                                       narrow(call.inner), &how.alpha, of(call.x), type.data, narrow(call.x.leading),
                                       call.x.step, of(call.y), type.data, narrow(call.y.leading), call.y.step,
                                       &how.beta, c, type.data, narrow(call.z.leading), call.z.step, narrow(call.batch),
                                       type.compute, CUBLAS_GEMM_DEFAULT),
            "cublasGemmStridedBatchedEx");
  }

  // --- library_handles ---

  using handle = cublasHandle_t;

  static handle begin(int device) {
    current_device const here(device);
    handle made = nullptr;
    require(cublasCreate(&made), "cublasCreate");
    // Without this mode cuBLAS may add parts of a sum of 16-bit products in 16 bits.
    require(cublasSetMathMode(made, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
            "cublasSetMathMode");
    return made;
  }

  static void end(handle h) { cublasDestroy(h); }

 private:
  static void require(cublasStatus_t status, char const* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw_error(call, " failed: ", cublasGetStatusString(status), "; OSTRAKA_ENABLE_BLAS=OFF builds without cuBLAS");
  }
};

template <>
struct library_of_space<Kokkos::Cuda> {
  using type = cublas;
};

}  // namespace ostraka::engine

#endif
