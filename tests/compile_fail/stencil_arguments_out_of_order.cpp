// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of a stencil follows the block
// error: stencil: the function comes before the blocks that it reads, and in stencil_into after the block that it writes to; write os::stencil(f, x, c), or os::stencil_into(next, f, x, c)
// error: stencil_arguments_out_of_order<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, os::halo<I, 1>, os::varying(X)> const& x) {
  return os::stencil(x, [](auto const& u) { return u(1); });
}
#else
auto f(os::tensor<float, os::halo<I, 1>, os::varying(X)> const& x) {
  return os::stencil([](auto const& u) { return u(1); }, x);
}
#endif
