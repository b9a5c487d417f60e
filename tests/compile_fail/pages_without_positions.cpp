// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys and values are in pages, and nothing says how far each request has come
// error: attention: a query reads the pages up to its own position; give os::causal and os::from_positions(t) with os::pages<P>(table)
// error: pages_without_positions<
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
  static_cast<void>(t);
  return os::attention<Q, S, D>(q, k, k, os::pages<P>(table), os::causal);
#else
  return os::attention<Q, S, D>(q, k, k, os::pages<P>(table), os::causal, os::from_positions(t));
#endif
}
