// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: blocks of bools are summed
// error: reduction: bools are neither summed nor multiplied;
// error: bools_do_not_add<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#else
auto f(os::tensor<bool, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::pmax<X>(block); }, a);
}
#endif
