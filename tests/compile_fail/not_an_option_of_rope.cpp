// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number follows the tensor
// error: rope: after the tensor come
// error: not_an_option_of_rope<int>
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_AXIS(T, 3);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S/X, F, P> const& x) { return os::rope<S, F, P>(x, 128); }
#else
auto f(os::tensor<float, S/X, F, P> const& x) { return os::rope<S, F, P>(x, os::from_position(128)); }
#endif
