// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: in a ring the numbers of the keys' documents are divided with the keys
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
using rows = os::tensor<float, H, Q/X, D>;
using blocks = os::tensor<float, H, K/X, D>;
using of_queries = os::tensor<std::int32_t, Q/X>;

#ifdef SHOULD_FAIL
auto f(rows const& q, blocks const& k, of_queries const& a, os::tensor<std::int32_t, K/X> const& b) {
  return os::attention<Q, K/X, D>(q, k, k, os::ring, os::segments(a, b));
}
#else
auto f(rows const& q, blocks const& k, of_queries const& a, os::tensor<std::int32_t, K> const& b) {
  return os::attention<Q, K/X, D>(q, k, k, os::ring, os::segments(a, b));
}
#endif
