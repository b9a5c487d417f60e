// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the derivative of a ring is taken whose keys are named as divided by another mesh axis
// error: operation: the axis is named the way the tensor divides it
// error: axis_sharding_mismatch<
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

auto f(os::tensor<float, Q/X, D> const& q, os::tensor<float, K/X, D> const& k) {
  return os::value_and_grad([&](auto const& v) {
#ifdef SHOULD_FAIL
    return os::sum<>(os::attention<Q, K/Y, D>(v, k, k, os::ring));
#else
    return os::sum<>(os::attention<Q, K/X, D>(v, k, k, os::ring));
#endif
  })(q);
}
