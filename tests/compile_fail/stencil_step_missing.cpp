// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of a stencil names more steps than axes are padded
// error: stencil: the function names one step along each padded axis, in their order; write x(-1, 0) where two axes are padded, and x(0, 0) for the point itself
// error: stencil_step_missing<2, 1>
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
        return os::stencil([](auto const& u) { return u(-1, 0) + u(1, 0); }, os::exchange_halo<os::halo<I, 1>/X>(b));
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
