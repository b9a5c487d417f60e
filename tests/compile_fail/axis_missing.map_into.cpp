// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor that os::map_into writes to lacks an axis of an operand
// error: tensor: the axis asked for is an axis of the tensor;
// error: axis_missing<J_axis, sharding<I_axis>>
#include <ostraka/elements/map_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

struct twice {
  KOKKOS_FUNCTION float operator()(float v) const { return 2 * v; }
};

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& c, os::tensor<float, I, J> const& a) { os::map_into(c, twice(), a); }
#else
void f(os::tensor<float, J, I> const& c, os::tensor<float, I, J> const& a) { os::map_into(c, twice(), a); }
#endif
