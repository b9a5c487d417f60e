// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor that os::map_into writes to is divided less than an operand
// error: map: in operations element by element, such as A + B, an axis that several tensors share is divided alike in all of them,
// error: axis_split_differently<I_axis, I_axis, X_mesh>
#include <ostraka/elements/map_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct twice {
  KOKKOS_FUNCTION float operator()(float v) const { return 2 * v; }
};

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& c, os::tensor<float, I/X> const& a) { os::map_into(c, twice(), a); }
#else
void f(os::tensor<float, I/X> const& c, os::tensor<float, I> const& a) { os::map_into(c, twice(), a); }
#endif
