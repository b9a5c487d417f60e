// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor without axes where a number is wanted
// error: value: a tensor is neither a number nor a bool, even if it has no axes; take its number with os::value, as in double s = os::value(os::sum<>(A))
// error: tensor_is_not_a_number<sharding<>, double>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double f(os::tensor<double, I/X> const& a) {
  double const s(os::sum<>(a));
  return s;
}
#else
double f(os::tensor<double, I/X> const& a) {
  double const s = os::value(os::sum<>(a));
  return s;
}
#endif
