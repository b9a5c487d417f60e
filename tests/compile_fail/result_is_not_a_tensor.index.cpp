// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body returns the number of its device
// error: shard_map: a body returns a block, or a std::tuple of as many blocks as results are named with os::dims<...>{}
// error: result_is_not_a_tensor<varying_int<X_mesh>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::axis_index<X>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return block; }, a);
}
#endif
