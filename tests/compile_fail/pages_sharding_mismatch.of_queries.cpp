// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis of a table that counts pages is that of the queries
// error: operation: positions of rows have axes of the batch, a table of pages has these and one more axis, which is whole, and a pool has pages, slots and axes of the rows, divided as in the rows
// error: pages_sharding_mismatch<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(P);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(T);

#ifdef SHOULD_FAIL
using table_type = os::tensor<int, B, Q>;
#else
using table_type = os::tensor<int, B, T>;
#endif

auto f(os::tensor<float, B, Q, D> const& q, os::tensor<float, P, S, D> const& k, table_type const& table,
       os::tensor<int, B> const& t) {
  return os::attention<Q, S, D>(q, k, k, os::pages<P>(table), os::causal, os::from_positions(t));
}
