// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what is written to is divided where the operands vary
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<over<I_axis, X_mesh>>, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/elements/map_into.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& c) {
  return os::shard_map<I / X>(
      [&](auto block) {
        os::map_into(
            c, [](float x) { return 2 * x; }, block);
        return block;
      },
      a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& c) {
  return os::shard_map<I / X>(
      [&](auto block, auto out) {
        os::map_into(
            out, [](float x) { return 2 * x; }, block);
        return out;
      },
      a, c);
}
#endif
