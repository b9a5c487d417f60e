// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an exchange of halos is given an axis without a width
// error: exchange_halo: each axis to be padded is named with its width and the mesh axes along which its neighbours are; write os::exchange_halo<os::halo<I, 1>/X>(a), or os::halo<I, 1> for an axis that is whole on every device
// error: not_a_halo<
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
        os::exchange_halo<I/X>(b);
        return b;
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b);
        return b;
      },
      a);
}
#endif
