// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two masks follow the operands of os::attention
// error: operation: after the operands comes one tensor of a kind, positions and frequencies of os::rope or the mask of an attention, and a second one would be ignored; combine the two, masks as A && B
// error: extra_tensor_after_operands<
#include <ostraka/elements/operators.hpp>
#include <ostraka/operations/attention/attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H/X, Q, D>;
using keys = os::tensor<float, H/X, K, D>;
using mask = os::tensor<bool, K>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k, mask const& a, mask const& b) { return os::attention<Q, K, D>(q, k, k, a, b); }
#else
auto f(queries const& q, keys const& k, mask const& a, mask const& b) {
  return os::attention<Q, K, D>(q, k, k, a && b);
}
#endif
