// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The functions of cuFFT that engine/kernels/fourier/cufft_plans.hpp calls, as cuFFT 12 declares them, for the sham
/// device. fake_cufft.cpp defines them.

#include <cstddef>

#include "support/sham/stream.hpp"

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0

enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16
};
enum cufftType {
  CUFFT_C2C = 0x29,
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_Z2Z = 0x69,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c
};

using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};

extern "C" {
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocate);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, std::size_t* work_size);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
cufftResult cufftDestroy(cufftHandle plan);
}

/// Counts the fake's calls, and makes it refuse or fail on request.
namespace fake_cufft {

struct seen {
  long plans_made = 0;
  long plans_kept = 0;     ///< and not destroyed
  long calls = 0;          ///< of cufftExec…
  long run_destroyed = 0;  ///< transforms whose plan was destroyed before they ran: a GPU would read freed memory
};
[[nodiscard]] seen& so_far();

/// Plans of longer transforms are refused, with this status.
void refuse_above(long long n, cufftResult status);

}  // namespace fake_cufft
