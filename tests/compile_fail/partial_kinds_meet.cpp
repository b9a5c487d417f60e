// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial sum is multiplied by a partial product
// error: partial: operands whose parts are combined in different ways do not meet, because a maximum of sums is not the sum of the maxima; reduce one of them first with os::all_reduce or os::reduce_scatter
// error: partial_kinds_meet<X_mesh, partial_sum<X_mesh>, partial_prod<X_mesh>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I, os::partial_prod(X)> const& b) {
  return os::multiply(a, b);
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I, os::partial_prod(X)> const& b) {
  return os::multiply(a, os::all_reduce<X>(b));
}
#endif
