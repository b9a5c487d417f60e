// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a gather has added an axis
// error: shard_map: a result has the axes that are named for it, in that order
// error: result_has_other_axes<sharding<N_axis, I_axis>, sharding<I_axis>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I>([](auto block) { return os::all_gather<N/X>(block); }, a);
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<N, I>([](auto block) { return os::all_gather<N/X>(block); }, a);
}
#endif
