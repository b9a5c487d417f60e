// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body names the type of a tensor where it is handed a block
// error: shard_map: this call of the body, with a block for each tensor, does not compile
// error: body_does_not_take_blocks<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](os::tensor<float, I/X, J> block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](os::tensor<float, I, J, os::varying(X)> block) { return block; }, a);
}
#endif
