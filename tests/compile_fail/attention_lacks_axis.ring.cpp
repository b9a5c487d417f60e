// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same of an attention whose keys travel round a ring
// error: attention: attention<Q, K, D>(q, k, v): queries have the axes Q and D, keys K and D, values K, and one of them lacks such an axis; name axes that they have, or give the positions of keys and values a name of their own, os::rename<S, K>(k)
// error: attention_lacks_axis<K_axis, sharding<over<S_axis, X_mesh>, M_axis>>
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(M);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S/X, M> const& h) { return os::attention<S, K/X, M>(h, h, h, os::ring); }
#else
auto f(os::tensor<float, S/X, M> const& h) {
  auto const k = os::rename<S, K>(h);
  return os::attention<S, K/X, M>(h, k, k, os::ring);
}
#endif
