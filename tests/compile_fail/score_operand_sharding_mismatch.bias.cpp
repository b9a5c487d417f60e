// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a bias is divided otherwise than the scores
// error: attention: a bias has some axes of the scores
// error: score_operand_sharding_mismatch<
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

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k, os::tensor<float, H, Q/X, K> const& b) {
  return os::attention<Q, K, D>(q, k, k, os::bias(b));
}
#else
auto f(queries const& q, keys const& k, os::tensor<float, H/X, Q, K> const& b) {
  return os::attention<Q, K, D>(q, k, k, os::bias(b));
}
#endif
