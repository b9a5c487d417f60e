// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::neighbours_of is given a block without a halo
// error: neighbours_of: it takes a padded block, whose neighbours the function reads; pad it with os::exchange_halo<os::halo<I, 1>/X>(a), or pass the block itself, of which the function takes the element at each point
// error: neighbours_need_a_halo<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto call(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>(
      [](auto b) {
        os::for_each_point([](auto const&) {}, os::neighbours_of(b));
        return b;
      },
      a);
}
#else
auto call(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>(
      [](auto b) {
        os::for_each_point([](auto const&) {}, os::neighbours_of(os::exchange_halo<os::halo<I, 1>/X>(b)));
        return b;
      },
      a);
}
#endif
