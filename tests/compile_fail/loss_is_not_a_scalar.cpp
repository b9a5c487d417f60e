// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function that is differentiated gives a tensor with axes
// error: value_and_grad: the function gives one number
// error: loss_is_not_a_scalar<sharding<over<I_axis, X_mesh>>>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::multiply(x, x); })(p);
}
#else
auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(os::multiply(x, x)); })(p);
}
#endif
