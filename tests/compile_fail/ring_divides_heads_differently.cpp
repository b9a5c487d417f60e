// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys travel round a ring, and their heads are divided otherwise than those of the queries
// error: attention: in a ring the axes that keys or values share with queries (batches, heads) are divided alike
// error: ring_divides_heads_differently<
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using queries = os::tensor<float, H/Y, Q/X, D>;

#ifdef SHOULD_FAIL
using keys = os::tensor<float, H, K/X, D>;
#else
using keys = os::tensor<float, H/Y, K/X, D>;
#endif
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k, os::ring); }
