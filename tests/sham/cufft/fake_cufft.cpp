// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// cuFFT's functions on the sham device, made of loops in long double. Transforms wait in the device's queue, so that
/// they see what earlier kernels wrote and nothing later. The fake is as strict as cuFFT may be: a transform to reals
/// destroys its input, and gives NaN if a number that is real in the spectrum of reals has an imaginary part; the work
/// area is overwritten; data that are not aligned as complex numbers are, and memory of the host, are refused.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include <cufft.h>

#include "support/sham/device.hpp"

namespace {

using number = std::complex<long double>;
using fake_cufft::so_far;

struct layout {
  long long stride = 1, distance = 0;
};

struct plan {
  bool made = false, allocates = true, destroyed = false, has_area = false;
  cufftType type = CUFFT_C2C;
  long long n = 0, batch = 0;
  layout in, out;
  std::size_t work_bytes = 0;
  void* area = nullptr;
};

std::map<cufftHandle, std::shared_ptr<plan>> plans;
cufftHandle last = 0;
long long longest = std::numeric_limits<long long>::max();
cufftResult status_of_longer = CUFFT_INVALID_SIZE;

std::shared_ptr<plan> find(cufftHandle handle) {
  auto const at = plans.find(handle);
  return at == plans.end() ? nullptr : at->second;
}

bool is_real_in_spectrum(long long k, long long n) { return k == 0 || 2 * k == n; }

template <class R>
number complex_at(void const* memory, long long i) {
  return {static_cast<R const*>(memory)[2 * i], static_cast<R const*>(memory)[2 * i + 1]};
}
template <class R>
void set_complex(void* memory, long long i, number const& v) {
  static_cast<R*>(memory)[2 * i] = static_cast<R>(v.real());
  static_cast<R*>(memory)[2 * i + 1] = static_cast<R>(v.imag());
}

/// Reads all rows, transforms them, and writes them, so that rows may overlap in place.
template <class R>
void transform(plan const& p, void* in, void* out, int direction) {
  bool const of_reals = p.type == CUFFT_R2C || p.type == CUFFT_D2Z,
             to_reals = p.type == CUFFT_C2R || p.type == CUFFT_Z2D;
  long long const n = p.n, half = n / 2 + 1;
  std::vector<std::vector<number>> rows(static_cast<std::size_t>(p.batch),
                                        std::vector<number>(static_cast<std::size_t>(n)));
  for (long long b = 0; b < p.batch; ++b) {
    std::vector<number>& row = rows[static_cast<std::size_t>(b)];
    for (long long j = 0; j < (to_reals ? half : n); ++j) {
      long long const i = b * p.in.distance + j * p.in.stride;
      number v = of_reals ? number(static_cast<R const*>(in)[i]) : complex_at<R>(in, i);
      if (to_reals && is_real_in_spectrum(j, n) && v.imag() != 0) v = std::numeric_limits<long double>::quiet_NaN();
      row[static_cast<std::size_t>(j)] = v;
      if (to_reals) {
        if (j > 0) row[static_cast<std::size_t>(n - j)] = std::conj(v);
        set_complex<R>(in, i, {-12345, 54321});
      }
    }
  }
  std::vector<number> roots;
  for (long long j = 0; j < n; ++j)
    roots.push_back(std::polar(1.0L, direction * 2 * 3.14159265358979323846264338327950288L *
                                         static_cast<long double>(j) / static_cast<long double>(n)));
  for (long long b = 0; b < p.batch; ++b)
    for (long long k = 0; k < (of_reals ? half : n); ++k) {
      number sum = 0;
      for (long long j = 0; j < n; ++j)
        sum +=
            rows[static_cast<std::size_t>(b)][static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(j * k % n)];
      long long const i = b * p.out.distance + k * p.out.stride;
      if (to_reals)
        static_cast<R*>(out)[i] = static_cast<R>(sum.real());
      else
        set_complex<R>(out, i, sum);
    }
}

template <class R>
cufftResult start(cufftHandle handle, cufftType type, void* in, void* out, int direction) {
  std::shared_ptr<plan> const p = find(handle);
  if (p == nullptr || !p->made || p->type != type) return CUFFT_INVALID_PLAN;
  if (!p->allocates && !p->has_area) return CUFFT_NO_WORKSPACE;
  for (void* const data : {in, out})
    if (reinterpret_cast<std::uintptr_t>(data) % (2 * sizeof(R)) != 0) return CUFFT_UNALIGNED_DATA;
  bool const is_complex = type == CUFFT_C2C || type == CUFFT_Z2Z;
  if (in == out && (!is_complex || p->in.stride != p->out.stride || p->in.distance != p->out.distance))
    return CUFFT_INVALID_VALUE;
  sham::require_device_memory(in, "cuFFT");
  sham::require_device_memory(out, "cuFFT");
  if (p->work_bytes > 0) sham::require_device_memory(p->area, "cuFFT's work area");
  ++so_far().calls;
  sham::launch("a transform of cuFFT", [=, area = p->area] {
    if (p->destroyed) ++so_far().run_destroyed;
    if (!p->allocates && p->work_bytes > 0) std::memset(area, 0x5a, p->work_bytes);
    transform<R>(*p, in, out, direction);
  });
  return CUFFT_SUCCESS;
}

}  // namespace

namespace fake_cufft {

seen& so_far() {
  static seen all;
  return all;
}

void refuse_above(long long n, cufftResult status) {
  longest = n;
  status_of_longer = status;
}

}  // namespace fake_cufft

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  plans[++last] = std::make_shared<plan>();
  *handle = last;
  ++so_far().plans_made;
  ++so_far().plans_kept;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocate) {
  std::shared_ptr<plan> const p = find(handle);
  if (p == nullptr || p->made) return CUFFT_INVALID_PLAN;
  p->allocates = allocate != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, std::size_t* work_size) {
  std::shared_ptr<plan> const p = find(handle);
  if (p == nullptr || p->made) return CUFFT_INVALID_PLAN;
  if (*n > longest) return status_of_longer;
  bool const of_reals = type == CUFFT_R2C || type == CUFFT_D2Z, to_reals = type == CUFFT_C2R || type == CUFFT_Z2D;
  long long const read = to_reals ? *n / 2 + 1 : *n, written = of_reals ? *n / 2 + 1 : *n;
  if (rank != 1 || *n < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  p->in = {1, read};  // without the extents of the memory, strides are ignored
  p->out = {1, written};
  if (inembed != nullptr && onembed != nullptr) {
    if (*inembed < read || *onembed < written || istride < 1 || ostride < 1) return CUFFT_INVALID_VALUE;
    p->in = {istride, idist};
    p->out = {ostride, odist};
  }
  p->type = type;
  p->n = *n;
  p->batch = batch;
  p->made = true;
  *work_size = p->work_bytes = *n % 2 == 0 ? 0 : static_cast<std::size_t>(24 * *n);  // some plans need none
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* area) {
  std::shared_ptr<plan> const p = find(handle);
  if (p == nullptr || !p->made) return CUFFT_INVALID_PLAN;
  if (reinterpret_cast<std::uintptr_t>(area) % 256 != 0) return CUFFT_UNALIGNED_DATA;
  p->area = area;
  p->has_area = true;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return find(handle) == nullptr || stream != nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return start<float>(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return start<float>(plan, CUFFT_R2C, in, out, -1);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return start<float>(plan, CUFFT_C2R, in, out, 1);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return start<double>(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return start<double>(plan, CUFFT_D2Z, in, out, -1);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return start<double>(plan, CUFFT_Z2D, in, out, 1);
}

cufftResult cufftDestroy(cufftHandle handle) {
  std::shared_ptr<plan> const p = find(handle);
  if (p == nullptr) return CUFFT_INVALID_PLAN;
  p->destroyed = true;
  plans.erase(handle);
  --so_far().plans_kept;
  return CUFFT_SUCCESS;
}
}
