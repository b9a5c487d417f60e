// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: positions are divided where the operand is not
// error: rope: positions are along axes of the operand
// error: positions_sharding_mismatch<
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_AXIS(T, 3);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S, F, P> const& x, os::tensor<std::int32_t, S/X> const& at) {
  return os::rope<S, F, P>(x, at);
}
#else
auto f(os::tensor<float, S/X, F, P> const& x, os::tensor<std::int32_t, S> const& at) {
  return os::rope<S, F, P>(x, at);
}
#endif
