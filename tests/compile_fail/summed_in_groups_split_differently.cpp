// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis that is summed is divided over a mesh axis in one operand alone
// error: ragged product: an axis of both operands is summed in place, so it is divided alike in both
// error: summed_in_groups_split_differently<M_axis, sharding<R_axis, over<M_axis, X_mesh>>, sharding<E_axis, M_axis, F_axis>
#include <ostraka/experts/ragged_dot.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(R);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(F);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto m = M/X;
#else
constexpr auto m = M;
#endif

auto f(os::tensor<float, R, m> const& x, os::tensor<float, E, M, F> const& w, os::tensor<int, E> const& sizes) {
  return os::ragged_dot<R, E>(x, w, sizes);
}
