// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is in memory that DLPack has no name for
// error: from_dlpack, copy_from_dlpack, to_dlpack: DLPack tensors are in the memory of a host, of CUDA or of ROCm; use an os::host_tensor
// error: memory_without_dlpack<
#include <ostraka/dlpack/to_dlpack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct bank {
  using memory_space = bank;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, bank>;
  using size_type = Kokkos::HostSpace::size_type;
  static constexpr char const* name() { return "Bank"; }
};

#ifdef SHOULD_FAIL
auto f(os::basic_tensor<float, os::tensor<float, I / X>::sharding_type, bank::device_type> const& a) {
  return os::to_dlpack(a);
}
#else
auto f(os::host_tensor<float, I / X> const& a) { return os::to_dlpack(a); }
#endif
