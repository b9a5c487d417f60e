// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number follows the operands
// error: attention: after queries, keys and values come
// error: not_an_option_of_attention<float>
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
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, 0.5f); }
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, os::score_scale(0.5)); }
#endif
