// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: devices that shift blocks around a ring give different numbers
// error: shift: the devices along the mesh axis shift by one number, but this one differs there; give one that varies along other mesh axes only, or name each sender and receiver with os::ppermute
// error: shift_varies_along_its_axis<X_mesh>
#include <utility>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, I/X> const& a) {
#ifdef SHOULD_FAIL
  return os::shard_map<I/X>([](auto block) { return os::shift<X>(block, os::axis_index<X>(block)); }, a);
#else
  return os::shard_map<I/X>([](auto block) { return os::shift<X>(block, os::axis_size<X>(block) - 1); }, a);
#endif
}
