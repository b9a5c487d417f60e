// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys travel round a ring, and a position or a mask follows the operands
// error: attention: os::ring takes os::causal, os::striped<X>, os::score_scale(s) and the options that change scores, os::window(w), os::segments(q_ids, k_ids), os::soft_cap(c), os::bias(b), os::alibi(slopes) and os::sinks(logits), because positions begin at 0 and no mask travels round the ring
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
