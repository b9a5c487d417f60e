// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys travel round a ring, and a position or a mask follows the operands
// error: attention: after os::ring come os::causal, os::striped<X>, os::score_scale(s) and what changes scores
// error: not_an_option_of_ring<ostraka::from_position>
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
auto f(queries const& q, keys const& k) {
  return os::attention<Q, K/X, D>(q, k, k, os::ring, os::causal, os::from_position(3));
}
#else
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k, os::ring, os::causal); }
#endif
