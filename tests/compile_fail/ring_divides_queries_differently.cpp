// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys travel round a ring, and another mesh axis than theirs divides the queries
// error: attention: in a ring the same mesh axes divide queries and keys, in the same order
// error: ring_divides_queries_differently<
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using queries = os::tensor<float, H, Q, D>;
using keys = os::tensor<float, H, K/X, D>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k, os::ring); }
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k); }
#endif
