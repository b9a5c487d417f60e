// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the difference of two partial maxima over different mesh axes
// error: partial: operands whose parts are combined in different ways do not meet, because a maximum of sums is not the sum of the maxima; reduce one of them first with os::all_reduce or os::reduce_scatter
// error: partial_kinds_meet<Y_mesh, partial_max<X_mesh>, partial_max<Y_mesh>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial_max(X)> const& a, os::tensor<float, I, os::partial_max(Y)> const& b) {
  return os::subtract(a, b);
}
#else
auto f(os::tensor<float, I, os::partial_max(X)> const& a, os::tensor<float, I, os::partial_max(Y)> const& b) {
  return os::subtract(a, os::all_reduce<Y>(b));
}
#endif
