// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body takes fewer blocks than there are tensors
// error: shard_map: this call of the body, with a block for each tensor, does not compile
// error: body_does_not_take_blocks<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I/X>([](auto block) { return block; }, a, b);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I/X>([](auto block, auto) { return block; }, a, b);
}
#endif
