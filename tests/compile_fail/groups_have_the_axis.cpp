// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axes of rows and groups are named in the wrong order
// error: ragged product: rows have the first axis named and lack the second, which numbers the groups and their matrices, and the numbers of rows have the second axis alone
// error: groups_have_the_axis<E_axis, sharding<R_axis, M_axis>
#include <ostraka/experts/ragged_dot.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(R);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(F);

auto f(os::tensor<float, R, M> const& x, os::tensor<float, E, M, F> const& w, os::tensor<int, E> const& sizes) {
#ifdef SHOULD_FAIL
  return os::ragged_dot<E, R>(x, w, sizes);
#else
  return os::ragged_dot<R, E>(x, w, sizes);
#endif
}
