// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: sinks have an axis of the queries
// error: attention: a bias has some axes of the scores, sinks and slopes some of those without Q and K, numbers of
// documents some of those without K for queries and without Q for keys, each divided as in the scores or not at all;
// os::reshard it first error: score_operand_sharding_mismatch<
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
auto f(queries const& q, keys const& k, os::tensor<float, H/X, Q> const& s) {
  return os::attention<Q, K, D>(q, k, k, os::sinks(s));
}
#else
auto f(queries const& q, keys const& k, os::tensor<float, H/X> const& s) {
  return os::attention<Q, K, D>(q, k, k, os::sinks(s));
}
#endif
