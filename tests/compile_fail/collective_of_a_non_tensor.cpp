// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: devices are counted with a sum of ones
// error: collective: it takes one block of the body, as its first argument
// error: collective_of_a_non_tensor<int>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    static_cast<void>(os::psum<X>(1));
    return block;
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    static_cast<void>(os::axis_size<X>(block));
    return block;
  }, a);
}
#endif
