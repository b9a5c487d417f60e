// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a maximum of a partial sum over another mesh axis, both to be partial
// error: sharding: a tensor is partial in one way only, because a maximum of sums is not the sum of the maxima;
// error: partial_in_two_ways<partial_sum<X_mesh>, partial_max<Y_mesh>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / Y, os::partial(X)> const& a) {
  return os::max<I, os::partial(X), os::partial_max(Y)>(a);
}
#else
auto f(os::tensor<float, I, J / Y, os::partial(X)> const& a) {
  return os::max<I, os::partial_max(Y)>(os::all_reduce<X>(a));
}
#endif
