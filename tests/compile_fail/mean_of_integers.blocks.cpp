// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mean of blocks of integers is asked for
// error: mean: the mean of integers is not an integer
// error: mean_of_integers<int>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::pmean<X>(block); }, a);
}
#else
auto f(os::tensor<int, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
