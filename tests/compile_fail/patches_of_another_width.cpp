// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis of patches has another extent than the halo
// error: patches: a neighbourhood has as many indices as the halo has at both ends, plus the point's own
// error: patches_of_another_width<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
#ifdef SHOULD_FAIL
OSTRAKA_AXIS(M, 4);
#else
OSTRAKA_AXIS(M, 5);
#endif
OSTRAKA_MESH_AXIS(X);

auto call(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>(
      [](auto b) { return os::sum<I, J>(os::patches<M>(os::exchange_halo<os::halo<I, 2>/X>(b))); }, a);
}
