// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body returns one block, and two results are named
// error: shard_map: a body returns as many blocks as results are named
// error: wrong_number_of_results<1, 2>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I/X> const& a) {
  auto [b, c] = os::shard_map<os::dims<I/X>{}, os::dims<I/X>{}>([](auto block) { return block; }, a);
  static_cast<void>(c);
  static_cast<void>(b);
}
#else
void f(os::tensor<float, I/X> const& a) {
  auto [b] = os::shard_map<os::dims<I/X>{}>([](auto block) { return block; }, a);
  static_cast<void>(b);
}
#endif
