// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: positions that vary are put into the scores of queries and keys that do not
// error: shard_map: the target varies along the mesh axes along which the operands do
// error: target_does_not_vary<X_mesh, sharding<
#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, B, Q, D> const& q, os::tensor<float, B, K, D> const& k,
       os::tensor<int, B, os::partial(X)> const& positions) {
  auto const attend = [&](auto t) {
#ifdef SHOULD_FAIL
    auto const& own = q;
#else
    auto const own = os::pvary<X>(q);
#endif
    return os::attention<Q, K, D>(own, k, k, os::causal, os::from_positions(t));
  };
  return os::shard_map<B, Q, D, os::partial(X)>(attend, positions);
}
