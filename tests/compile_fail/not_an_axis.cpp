// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis is named in the place of an axis
// error: operation: it takes an axis the way the tensor divides it
// error: not_an_axis<
#include <ostraka/operations/normalisation/softmax.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

auto f(os::tensor<float, B/X, V/Y> const& scores) {
#ifdef SHOULD_FAIL
  return os::softmax<X>(scores);
#else
  return os::softmax<V/Y>(scores);
#endif
}
