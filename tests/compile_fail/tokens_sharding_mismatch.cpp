// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tokens are divided otherwise than what says to which experts they go
// error: experts: a tensor of tokens begins with the axes of the tensor that names their experts (except its last axis, the choices), in the same order and divided alike
// error: tokens_sharding_mismatch<sharding<B_axis, S_axis, M_axis>, sharding<over<B_axis, X_mesh>, S_axis, K_axis>
#include <ostraka/experts/capacity.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(C);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto b = B;
#else
constexpr auto b = B/X;
#endif

auto f(os::tensor<float, b, S, M> const& x, os::tensor<int, B/X, S, K> const& experts) {
  return os::dispatch(x, os::assign_slots<E, C>(experts, E = 4, C = 2));
}
