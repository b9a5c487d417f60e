// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the second of several results varies
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<X_mesh, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I/X>{}, os::dims<I>{}>([](auto block) { return std::tuple{block, block}; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I / X>{}, os::dims<I>{}>(
      [](auto block) {
        return std::tuple{block, os::psum<X>(block)};
      },
      a);
}
#endif
