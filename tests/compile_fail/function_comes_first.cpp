// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::map follows the tensors
// error: map: the function comes before the tensors whose elements it takes, and in map_into after the tensor that is written; write os::map(f, A, B) or os::map_into(C, f, A, B)
// error: function_comes_first<ostraka::basic_tensor<float
#include <ostraka/elements/map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

struct add {
  KOKKOS_INLINE_FUNCTION float operator()(float a, float b) const { return a + b; }
};

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a, os::tensor<float, J> const& b) { return os::map(a, b, add()); }
#else
auto f(os::tensor<float, I, J> const& a, os::tensor<float, J> const& b) { return os::map(add(), a, b); }
#endif
