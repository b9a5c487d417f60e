// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a table of pages, positions or a pool do not meet the rows of an attention or of os::write_at
// error: operation: positions of rows have axes of the batch, a table of pages has these and one more axis, which is whole, and a pool has pages, slots and axes of the rows, divided as in the rows; the width of a head is the last axis of queries, keys and values; os::reshard or os::transpose the operand
// error: pages_sharding_mismatch<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(P);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

template <class Table>
auto f(os::tensor<float, B, Q, H, D> const& q, os::tensor<float, P/X, S, H, D> const& k, Table const& table,
       os::tensor<int, B> const& t) {
  return os::attention<Q, S, D>(q, k, k, os::pages<P/X>(table), os::causal, os::from_positions(t));
}

#ifdef SHOULD_FAIL
template auto f(os::tensor<float, B, Q, H, D> const&, os::tensor<float, P/X, S, H, D> const&, os::tensor<int, B> const&,
                os::tensor<int, B> const&);
#else
template auto f(os::tensor<float, B, Q, H, D> const&, os::tensor<float, P/X, S, H, D> const&,
                os::tensor<int, B, T> const&, os::tensor<int, B> const&);
#endif
