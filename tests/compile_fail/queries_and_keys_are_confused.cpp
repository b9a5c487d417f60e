// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys have the axis of queries
// error: attention: attention<Q, K, D>(q, k, v): Q is an axis of the queries alone
// error: queries_and_keys_are_confused<
#include <ostraka/operations/attention/attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H/X, Q, D>;
using keys = os::tensor<float, H/X, K, D>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k) { return os::attention<H, K, D>(q, k, k); }
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k); }
#endif
