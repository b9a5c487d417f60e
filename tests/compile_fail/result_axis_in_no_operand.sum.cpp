// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reduction keeps an axis that the tensor lacks
// error: result: each axis of the result is an axis of an operand;
// error: result_axis_in_no_operand<J_axis>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X> const& a) {
  auto s = os::max<J>(a);
  static_cast<void>(s.local());
}
#else
void f(os::tensor<float, I / X> const& a) {
  auto s = os::max<I / X>(a);
  static_cast<void>(s.local());
}
#endif
