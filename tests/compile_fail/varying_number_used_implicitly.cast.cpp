// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number that differs from device to device is made a plain one
// error: varying_int: a number that differs from device to device becomes a plain one, or is compared, only by name,
// error: varying_number_used_implicitly<varying_int<X_mesh>
#include <utility>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, I/X> const& a) {
#ifdef SHOULD_FAIL
  return os::shard_map<I/X>([](auto block) { return os::scale(block, int(os::axis_index<X>(block))); }, a);
#else
  return os::shard_map<I/X>([](auto block) { return os::scale(block, os::axis_index<X>(block).value()); }, a);
#endif
}
