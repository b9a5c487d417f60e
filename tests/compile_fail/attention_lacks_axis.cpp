// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys and values of an attention have not got an axis of their own
// error: attention: attention<Q, K, D>(q, k, v): queries have the axes Q and D, keys K and D, values K, and one of them lacks such an axis; name axes that they have, or give the positions of keys and values a name of their own, os::rename<S, K>(k)
// error: attention_lacks_axis<K_axis, sharding<S_axis, M_axis>>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(M);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S, M> const& h, os::tensor<float, S, M> const& k) { return os::attention<S, K, M>(h, k, k); }
#else
auto f(os::tensor<float, S, M> const& h, os::tensor<float, S, M> const& k) {
  auto const renamed = os::rename<S, K>(k);
  return os::attention<S, K, M>(h, renamed, renamed);
}
#endif
