// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an option that changes scores follows the operands of an attention to pages
// error: attention: os::pages<P>(table) takes os::causal, os::from_positions(t), os::window(w), os::score_scale(s) and os::in_range beside it, and each query reads its own pages; leave the option out, or keep keys and values in a cache with one axis of positions
// error: not_an_option_of_pages<ostraka::score_cap>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(P);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(T);

auto f(os::tensor<float, B, Q, H, D> const& q, os::tensor<float, P, S, H, D> const& k,
       os::tensor<int, B, T> const& table, os::tensor<int, B> const& t) {
#ifdef SHOULD_FAIL
  return os::attention<Q, S, D>(q, k, k, os::pages<P>(table), os::causal, os::from_positions(t), os::soft_cap(30));
#else
  return os::attention<Q, S, D>(q, k, k, os::pages<P>(table), os::causal, os::from_positions(t), os::window(30));
#endif
}
