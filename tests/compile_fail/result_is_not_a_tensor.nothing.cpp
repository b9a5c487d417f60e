// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body returns nothing
// error: shard_map: a body returns a block, or a std::tuple of as many blocks as results are named with os::dims<...>{}
// error: result_is_not_a_tensor<void>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I/X> const& a) {
  os::shard_map<I/X>([](auto) {}, a);
}
#else
void f(os::tensor<float, I/X> const& a) {
  os::shard_map<I/X>([](auto block) { return block; }, a);
}
#endif
