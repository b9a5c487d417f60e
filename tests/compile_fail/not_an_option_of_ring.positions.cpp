// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys travel round a ring, and each request has a position of its own
// error: attention: os::ring takes os::causal, os::striped<X>, os::score_scale(s) and the options that change scores, os::window(w), os::segments(q_ids, k_ids), os::soft_cap(c), os::bias(b), os::alibi(slopes) and os::sinks(logits), because positions begin at 0 and no mask travels round the ring
// error: not_an_option_of_ring<ostraka::detail::row_positions<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, B, Q/X, D> const& q, os::tensor<float, B, K/X, D> const& k, os::tensor<int, B> const& t) {
#ifdef SHOULD_FAIL
  return os::attention<Q, K/X, D>(q, k, k, os::ring, os::causal, os::from_positions(t));
#else
  static_cast<void>(t);
  return os::attention<Q, K/X, D>(q, k, k, os::ring, os::causal);
#endif
}
