// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: patches of two padded axes get one axis
// error: patches: the neighbourhood of a point has an axis for each padded one, in their order
// error: patches_need_an_axis_each<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);

auto call(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>>(b);
#ifdef SHOULD_FAIL
        return os::sum<I, J>(os::patches<M>(padded));
#else
        return os::sum<I, J>(os::patches<M, N>(padded));
#endif
      },
      a);
}
