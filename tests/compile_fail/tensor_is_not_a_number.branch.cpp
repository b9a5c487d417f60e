// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of one bool where true or false is wanted
// error: value: a tensor is neither a number nor a bool, even if it has no axes; take its number with os::value, as in double s = os::value(os::sum<>(A))
// error: tensor_is_not_a_number<sharding<>, bool>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
bool f(os::tensor<double, I/X> const& a) {
  if (os::sum<>(a) < 1.0) return true;
  return false;
}
#else
bool f(os::tensor<double, I/X> const& a) {
  if (os::value(os::sum<>(a)) < 1.0) return true;
  return false;
}
#endif
