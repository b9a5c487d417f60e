// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a stencil is given a block without a halo
// error: stencil: the first tensor is a padded block, whose neighbours the function reads; pad it with os::exchange_halo<os::halo<I, 1>/X>(a), or use os::map, which reads one element of each tensor
// error: stencil_needs_a_halo<
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
        return os::stencil([](auto const& u) { return u(-1) + u(1); }, b);
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        return os::stencil([](auto const& u) { return u(-1) + u(1); }, os::exchange_halo<os::halo<I, 1>/X>(b));
      },
      a);
}
#endif
