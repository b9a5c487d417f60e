// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number that differs from device to device is compared
// error: varying_int: a number that differs from device to device becomes a plain one, or is compared, only by name, because its type then no longer shows that what follows differs too; write i.value(), and call no collective in a branch that depends on it
// error: varying_number_used_implicitly<varying_int<X_mesh>
#include <utility>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I / X>([](auto block) { return os::axis_index<X>(block) == 0 ? block : os::shift<X>(block, 1); },
                              a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I / X>(
      [](auto block) { return os::axis_index<X>(block).value() == 0 ? os::copy(block) : block; }, a);
}
#endif
