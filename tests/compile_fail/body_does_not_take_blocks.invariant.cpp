// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body takes a block that does not vary where it is handed one that does
// error: shard_map: this call of the body, with a block for each tensor, does not compile
// error: body_does_not_take_blocks<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](os::tensor<float, I> block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](os::tensor<float, I, os::varying(X)> block) { return block; }, a);
}
#endif
