// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body returns a number
// error: shard_map: a body returns a block, or a std::tuple of as many blocks as results are named with os::dims<...>{}
// error: result_is_not_a_tensor<float>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<>{}>([](auto) { return 1.0f; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<>{}>([](auto block) { return os::psum<X>(os::sum<>(block)); }, a);
}
#endif
