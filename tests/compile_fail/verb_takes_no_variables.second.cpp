// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a product that is begun has a variable after a tensor
// error: start_einsum, start_reshard, einsum_into, map_into, reshard_into, stencil_into, reshard to another mesh: these operations take plain tensors, because they end later, write into an existing tensor, or move to another mesh, and one operand here is a variable
// error: verb_takes_no_variables<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J> const& a, os::tensor<double, J, K> const& p) {
  return os::value_and_grad([&a](auto const& x) {
#ifdef SHOULD_FAIL
    auto const product = os::start_einsum<I/X, K>(a, x).wait();
#else
    auto const product = os::einsum<I/X, K>(a, x);
#endif
    return os::sum<>(product * product);
  })(p);
}
