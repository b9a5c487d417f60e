// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a padded block leaves a body
// error: shard_map: blocks leave without their halos, which are copies of other devices' elements; return os::own(a), or what os::stencil makes of the block
// error: halo_leaves<
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
        return os::exchange_halo<os::halo<I, 1>/X>(b);
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        return os::own(os::exchange_halo<os::halo<I, 1>/X>(b));
      },
      a);
}
#endif
