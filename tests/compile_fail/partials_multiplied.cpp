// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two partial sums are multiplied
// error: partial: the operation keeps the parts of one operand at a time, because a product of sums is not the sum of the products; reduce all but one first with os::all_reduce or os::reduce_scatter
// error: partials_multiplied<X_mesh>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I, os::partial(X)> const& b) {
  return os::multiply(a, b);
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I, os::partial(X)> const& b) {
  return os::multiply(a, os::all_reduce<X>(b));
}
#endif
