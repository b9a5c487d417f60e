// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: something other than options follows the block
// error: exchange_halo: after the block come os::periodic or os::periodic(I), os::boundary = 2.5 and os::faces, each optional; drop any other argument
// error: not_a_halo_option<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b, 2.5);
        return b;
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b, os::boundary = 2.5);
        return b;
      },
      a);
}
#endif
