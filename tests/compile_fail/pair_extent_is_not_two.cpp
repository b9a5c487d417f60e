// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: pairs are along an axis of another static extent
// error: rope: pairs are along an axis of extent 2
// error: pair_extent_is_not_two<T_axis, 3
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_AXIS(T, 3);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S/X, F, T> const& x) { return os::rope<S, F, T>(x); }
#else
auto f(os::tensor<float, S/X, F, P> const& x) { return os::rope<S, F, P>(x); }
#endif
