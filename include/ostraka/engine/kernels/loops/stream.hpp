// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The stream and the device of an execution space instance, with which vendors' libraries launch kernels in
/// the order of the instance. CUDA and HIP have the same calls.

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_HIP)
#  include <hip/hip_runtime.h>
#endif

namespace ostraka::engine {

namespace detail {

#if defined(KOKKOS_ENABLE_CUDA)
inline cudaStream_t stream_of(Kokkos::Cuda const& exec) { return exec.cuda_stream(); }
inline int device_of(Kokkos::Cuda const& exec) { return exec.cuda_device(); }
inline int device_of_thread() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}
inline void set_device_of_thread(int device) { cudaSetDevice(device); }
#elif defined(KOKKOS_ENABLE_HIP)
template <class Exec>
  requires requires(Exec const& exec) { exec.hip_stream(); }
hipStream_t stream_of(Exec const& exec) { return exec.hip_stream(); }
template <class Exec>
  requires requires(Exec const& exec) { exec.hip_device(); }
int device_of(Exec const& exec) { return exec.hip_device(); }
inline int device_of_thread() {
  int device = 0;
  static_cast<void>(hipGetDevice(&device));
  return device;
}
inline void set_device_of_thread(int device) { static_cast<void>(hipSetDevice(device)); }
#else
inline int device_of_thread() { return 0; }
inline void set_device_of_thread(int) {}
#endif

template <class Exec>
concept HasStream = requires(Exec const& exec) {
  stream_of(exec);
};

}  // namespace detail

/// Makes a device current for the length of a scope. The current device of a host thread need not be that of an
/// instance.
class current_device {
 public:
  explicit current_device(int device) : before_(detail::device_of_thread()) {
    if (before_ != device) detail::set_device_of_thread(device);
  }
  ~current_device() { detail::set_device_of_thread(before_); }
  current_device(current_device const&) = delete;
  current_device& operator=(current_device const&) = delete;

 private:
  int before_;
};

}  // namespace ostraka::engine
