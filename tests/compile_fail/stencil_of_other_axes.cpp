// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a stencil is given blocks of other axes
// error: stencil: all blocks have the axes of the first one in its order, padded or not; transpose with os::einsum<I, J>(a), or rename an axis
// error: stencil_of_other_axes<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I / X, J / Y>(
      [](auto b) {
        return os::stencil([](auto const& u, float c) { return c * u(1); }, os::exchange_halo<os::halo<I, 1> / X>(b),
                           os::einsum<J, I>(b));
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        return os::stencil([](auto const& u, float c) { return c * u(1); }, os::exchange_halo<os::halo<I, 1>/X>(b), b);
      },
      a);
}
#endif
