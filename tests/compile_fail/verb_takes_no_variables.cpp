// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation on variables is begun, to be waited for later
// error: start_einsum, start_reshard, einsum_into, map_into, reshard_into, stencil_into, reshard to another mesh: these operations take plain tensors, because they end later, write into an existing tensor, or move to another mesh, and one operand here is a variable
// error: verb_takes_no_variables<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J> const& p) {
  return os::value_and_grad([](auto const& x) {
#ifdef SHOULD_FAIL
    auto const whole = os::start_reshard<I, J>(x).wait();
#else
    auto const whole = os::reshard<I, J>(x);
#endif
    return os::sum<>(whole * x);
  })(p);
}
