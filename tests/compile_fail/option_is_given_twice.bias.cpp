// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two biases follow the operands of os::attention
// error: attention: each option follows the operands once
// error: option_is_given_twice<
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/scored_attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H/X, Q, D>;
using keys = os::tensor<float, H/X, K, D>;
using added = os::tensor<float, H/X, Q, K>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k, added const& b) {
  return os::attention<Q, K, D>(q, k, k, os::bias(b), os::bias(b));
}
#else
auto f(queries const& q, keys const& k, added const& b) { return os::attention<Q, K, D>(q, k, k, os::bias(b)); }
#endif
