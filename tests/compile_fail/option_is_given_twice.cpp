// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two windows follow the operands of os::attention
// error: attention: each option follows the operands once, and a second one of its kind would be ignored
// of both, A && B of masks and A + B of biases error: option_is_given_twice<
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
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, os::window(4), os::window(8)); }
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K, D>(q, k, k, os::window(4), os::causal); }
#endif
