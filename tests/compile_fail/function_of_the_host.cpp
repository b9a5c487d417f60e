// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a kernel on a GPU is to call a function by its name
// error: function: in a GPU's memory os::map, os::map_into, os::generate, os::stencil and os::for_each_point call it in a kernel, and its name is an address of the host's code, which a kernel cannot call; write a struct whose operator() is marked KOKKOS_FUNCTION, or a KOKKOS_LAMBDA that calls it
// error: function_of_the_host<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct memory_of_a_gpu {
  using memory_space = memory_of_a_gpu;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_of_a_gpu>;
  using size_type = Kokkos::HostSpace::size_type;
  static constexpr char const* name() { return "memory of a GPU"; }
};

double twice(double x);

#ifdef SHOULD_FAIL
auto f(os::basic_tensor<double, os::tensor<double, I/X>::sharding_type, memory_of_a_gpu::device_type> const& a) {
  return os::map(twice, a);
}
#else
auto f(os::host_tensor<double, I/X> const& a) { return os::map(twice, a); }
#endif
