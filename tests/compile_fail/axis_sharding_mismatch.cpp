// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis of a softmax is named as divided by another mesh axis
// error: operation: the axis is named the way the tensor divides it
// error: axis_sharding_mismatch<
#include <ostraka/operations/normalisation/softmax.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

auto f(os::tensor<float, B/X, V/Y> const& scores) {
#ifdef SHOULD_FAIL
  return os::softmax<V/X>(scores);
#else
  return os::softmax<V/Y>(scores);
#endif
}
