// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::map_into stands before the tensor that it writes to
// error: map: the function comes before the tensors whose elements it takes, and in map_into after the tensor that is written; write os::map(f, A, B) or os::map_into(C, f, A, B)
// error: function_comes_first<add
#include <ostraka/elements/map_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

struct add {
  KOKKOS_INLINE_FUNCTION float operator()(float a, float b) const { return a + b; }
};

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, J> const& c, os::tensor<float, J> const& b) { os::map_into(add(), c, c, b); }
#else
void f(os::tensor<float, I, J> const& c, os::tensor<float, J> const& b) { os::map_into(c, add(), c, b); }
#endif
