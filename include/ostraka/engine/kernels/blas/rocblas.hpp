// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Matrix products of rocBLAS, on the stream of the execution space instance. Sums of 16-bit elements have 32
/// bits. It has not run on a GPU yet.

#ifndef OSTRAKA_ENABLE_ROCBLAS
#  define OSTRAKA_ENABLE_ROCBLAS 0
#endif

#include <Kokkos_Core.hpp>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

#if OSTRAKA_ENABLE_ROCBLAS && defined(KOKKOS_ENABLE_HIP)

#  include <rocblas/rocblas.h>

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

/// Kokkos::HIP was Kokkos::Experimental::HIP before version 4.
#  if KOKKOS_VERSION < 40000
using hip_space = Kokkos::Experimental::HIP;
#  else
using hip_space = Kokkos::HIP;
#  endif

struct rocblas {
  /// The names in rocBLAS of an element type and of the type in which it computes.
  struct element_type {
    bool known;
    rocblas_datatype data, compute;
  };

  template <class T>
  static constexpr element_type type_of() {
    if constexpr (std::is_same_v<T, float>)
      return {true, rocblas_datatype_f32_r, rocblas_datatype_f32_r};
    else if constexpr (std::is_same_v<T, double>)
      return {true, rocblas_datatype_f64_r, rocblas_datatype_f64_r};
    else if constexpr (std::is_same_v<T, Kokkos::complex<float>>)
      return {true, rocblas_datatype_f32_c, rocblas_datatype_f32_c};
    else if constexpr (std::is_same_v<T, Kokkos::complex<double>>)
      return {true, rocblas_datatype_f64_c, rocblas_datatype_f64_c};
    else if constexpr (std::is_same_v<T, float16>)
      return {true, rocblas_datatype_f16_r, rocblas_datatype_f32_r};
    else if constexpr (std::is_same_v<T, bfloat16>)
      return {true, rocblas_datatype_bf16_r, rocblas_datatype_f32_r};
    else
      return {false, rocblas_datatype_f32_r, rocblas_datatype_f32_r};
  }

  /// Returns "rocBLAS 4.4", the version that the program was compiled against.
  static std::string name() { return join_text("rocBLAS ", ROCBLAS_VERSION_MAJOR, '.', ROCBLAS_VERSION_MINOR); }

  template <class T>
  static constexpr bool multiplies = type_of<T>().known;

  static std::int64_t limit() { return 2147483647; }

  template <class T>
  static void multiply(hip_space const& exec, matrix_product const& p, T const* a, T const* b, update<T> const& how,
                       T* c) {
    constexpr element_type type = type_of<T>();
    column_major_call const call = column_major(p);
    current_device const here(exec.hip_device());
    handle const h = library_handles<rocblas>::of(exec.hip_device());
    require(rocblas_set_stream(h, exec.hip_stream()), "rocblas_set_stream");
    auto const narrow = [](std::int64_t n) { return static_cast<rocblas_int>(n); };
    auto const op = [](column_major_call::matrix const& m) {
      return m.transposed ? rocblas_operation_transpose : rocblas_operation_none;
    };
    auto const of = [&](column_major_call::matrix const& m) { return m.operand == 0 ? a : b; };
    // C is passed twice: as the matrix that is added, and as the result.
    require(
        rocblas_gemm_strided_batched_ex(
            h, op(call.x), op(call.y), narrow(call.rows), narrow(call.columns), narrow(call.inner), &how.alpha,
            of(call.x), type.data, narrow(call.x.leading), call.x.step, of(call.y), type.data, narrow(call.y.leading),
            call.y.step, &how.beta, c, type.data, narrow(call.z.leading), call.z.step, c, type.data,
            narrow(call.z.leading), call.z.step, narrow(call.batch), type.compute, rocblas_gemm_algo_standard, 0, 0),
        "rocblas_gemm_strided_batched_ex");
  }

  // --- library_handles ---

  using handle = rocblas_handle;

  static handle begin(int device) {
    current_device const here(device);
    handle made = nullptr;
    require(rocblas_create_handle(&made), "rocblas_create_handle");
    return made;
  }

  static void end(handle h) { rocblas_destroy_handle(h); }

 private:
  static void require(rocblas_status status, char const* call) {
    if (status != rocblas_status_success)
      throw_error(call, " failed: ", rocblas_status_to_string(status),
                  "; OSTRAKA_ENABLE_BLAS=OFF builds without rocBLAS");
  }
};

template <>
struct library_of_space<hip_space> {
  using type = rocblas;
};

}  // namespace ostraka::engine

#endif
