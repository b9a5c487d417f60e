// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::lower_triangle is asked for a tensor of three axes
// error: lower_triangle, upper_triangle: a triangle has rows and columns; name two axes, and combine it with tensors of more axes in os::map
// error: triangle_has_two_axes<sharding<I_axis, J_axis, K_axis>>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) { return os::lower_triangle<int, I, J, K>(mesh, I = 3, J = 4, K = 5); }
#else
auto f(os::mesh<> const& mesh) { return os::lower_triangle<int, I, J>(mesh, I = 3, J = 4); }
#endif
