// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mask has an axis that the tensor lacks
// error: operation: a mask has some of the tensor's axes
// error: row_operand_sharding_mismatch<
#include <ostraka/operations/normalisation/softmax.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);
OSTRAKA_AXIS(W);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, B/X, V> const& scores, os::tensor<std::int32_t, V> const& mask,
       os::tensor<std::int32_t, V, W> const& other) {
#ifdef SHOULD_FAIL
  return os::softmax<V>(scores, other);
#else
  static_cast<void>(other);
  return os::softmax<V>(scores, mask);
#endif
}
