// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: weights are divided along another axis than the experts
// error: dropless: the mesh axes that the call names divide the experts of the weights, and the mesh axes that divide tokens or experts divide no other axis of the weights
// error: expert_weights_sharding_mismatch<sharding<E_axis, over<M_axis, X_mesh>>, over<E_axis, X_mesh>>
#include <ostraka/experts.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(R);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, B/X, M> const& x, os::tensor<int, B/X, K> const& experts,
       os::tensor<float, B/X, K> const& weights,
#ifdef SHOULD_FAIL
       os::tensor<float, E, M/X> const& gain) {
#else
       os::tensor<float, E/X, M> const& gain) {
#endif
  auto const same = [](auto const& rows, auto const&, auto const&) { return rows; };
  return os::dropless<R, E/X>(same, x, experts, weights, gain);
}
