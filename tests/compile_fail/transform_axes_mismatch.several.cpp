// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two axes are transformed, and one new axis is named
// error: operation: the axis that is transformed is followed by the axis that it becomes, and os::dims of several axes by as many in the same order, alone or with all other axes of the tensor in any order
// error: transform_axes_mismatch<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(M);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J, M> const& a) {
#ifdef SHOULD_FAIL
  return os::fft<os::dims<I/X, J>, K>(a);
#else
  return os::fft<os::dims<I/X, J>, K/X, L>(a);
#endif
}
