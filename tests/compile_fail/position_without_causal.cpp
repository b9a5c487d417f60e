// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the first query's position follows the operands of os::attention, but no os::causal, which uses it
// error: attention: os::from_position(t) gives os::causal the position of the first query, and nothing else reads it; give os::causal too, or leave the position out
// error: position_without_causal<
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
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, os::from_position(7)); }
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, os::from_position(7), os::causal); }
#endif
