// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: halos are exchanged into a block that is padded otherwise
// error: exchange_halo_into: the target has the axes of the block in the same order, padded where they are named, and the same element type; make it with os::exchange_halo, or os::zeros_like of a padded block
// error: halo_target_mismatch<
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
        auto const padded = os::exchange_halo<os::halo<I, 2>/X>(b);
        os::exchange_halo_into<os::halo<I, 1>/X>(padded, b);
        return b;
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b);
        os::exchange_halo_into<os::halo<I, 1>/X>(padded, b);
        return b;
      },
      a);
}
#endif
