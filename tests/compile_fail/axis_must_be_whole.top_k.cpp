// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the largest elements along an axis that is divided are asked for
// error: operation: it works along an axis that is whole on every device, and mesh axes divide this one; gather it first with os::all_gather, or let them divide another axis with os::all_to_all
// error: axis_must_be_whole<J_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J/X> const& a) {
  auto [values, indices] = os::top_k<J, K>(a, K = 3);
  return values;
}
#else
auto f(os::tensor<float, I, J/X> const& a) {
  auto [values, indices] = os::top_k<J, K>(os::all_gather<X>(a), K = 3);
  return values;
}
#endif
