// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same in os::map_into
// error: shard_map: the target varies along the mesh axes along which the operands do
// error: target_does_not_vary<X_mesh, sharding<I_axis>>
#include <ostraka/elements/map_into.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& c) {
  return os::shard_map<I / X>(
      [&](auto block) {
        os::map_into(
            c, [](float x) { return 2 * x; }, block);
        return block;
      },
      a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& c) {
  return os::shard_map<I / X>(
      [&](auto block) {
        os::map_into(
            c, [](float x) { return 2 * x; }, os::psum<X>(block));
        return block;
      },
      a);
}
#endif
