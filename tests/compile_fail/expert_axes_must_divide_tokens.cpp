// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: experts are divided over a mesh axis along which all devices have the same tokens
// error: dropless: tokens go to their experts along the mesh axes that divide the experts, so these mesh axes divide the tokens too, and each token is sent once
// error: expert_axes_must_divide_tokens<over<E_axis, X_mesh>, sharding<B_axis, K_axis>>
#include <ostraka/experts.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(R);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto b = B;
#else
constexpr auto b = B/X;
#endif

auto f(os::tensor<float, b, M> const& x, os::tensor<int, b, K> const& experts, os::tensor<float, b, K> const& weights,
       os::tensor<float, E/X, M> const& gain) {
  auto const same = [](auto const& rows, auto const&, auto const&) { return rows; };
  return os::dropless<R, E/X>(same, x, experts, weights, gain);
}
