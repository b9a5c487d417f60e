// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: of the axes that are transformed one is divided, which is not said
// error: operation: the axis is divided over a mesh axis
// error: axis_is_divided<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J> const& a) {
#ifdef SHOULD_FAIL
  return os::rfft<os::dims<I, J>, K, L/X>(a);
#else
  return os::rfft<os::dims<I/X, J>, K, L/X>(a);
#endif
}
