// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number is an operand
// error: shard_map: the body comes first, and after it tensors
// error: operand_is_not_a_tensor<float>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block, float) { return block; }, a, 0.5f);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([s = 0.5f](auto block) { return static_cast<void>(s), block; }, a);
}
#endif
