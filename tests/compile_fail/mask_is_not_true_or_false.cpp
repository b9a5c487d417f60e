// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mask is of fractions
// error: operation: a mask is bool, or an integer
// error: mask_is_not_true_or_false<float, 
#include <ostraka/operations/normalisation/softmax.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);

OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, B/X, V> const& scores, os::tensor<std::int32_t, V> const& mask,
       os::tensor<float, V> const& other) {
#ifdef SHOULD_FAIL
  return os::softmax<V>(scores, other);
#else
  static_cast<void>(other);
  return os::softmax<V>(scores, mask);
#endif
}
