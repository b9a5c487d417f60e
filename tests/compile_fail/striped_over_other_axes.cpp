// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a sequence is striped over other mesh axes than those that divide it
// error: operation: a sequence is striped over the mesh axes that divide it
// error: striped_over_other_axes<ostraka::striped_over<Y_mesh>
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using queries = os::tensor<float, H, Q/X, D>;
using keys = os::tensor<float, H, K/X, D>;

#ifdef SHOULD_FAIL
constexpr auto order = os::striped<Y>;
#else
constexpr auto order = os::striped<X>;
#endif
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k, os::causal, order, os::ring); }
