// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a device's number is multiplied by a block
// error: varying_int: os::axis_index returns a whole number that differs from device to device, and elements meet numbers of their own kind; write static_cast<float>(i.value()) where the block varies along the same mesh axes, and os::pvary<X>(a) first where it does not
// error: varying_number_meets_tensor<varying_int<X_mesh>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto const& b) { return os::axis_index<X>(b) * b; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto const& b) { return static_cast<float>(os::axis_index<X>(b).value()) * b; }, a);
}
#endif
