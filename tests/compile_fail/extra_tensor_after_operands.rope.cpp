// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two tensors of positions follow the operand of os::rope
// error: operation: after the operands comes one tensor of a kind, positions and frequencies of os::rope or the mask of an attention, and a second one would be ignored; combine the two, masks as A && B
// error: extra_tensor_after_operands<
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_MESH_AXIS(X);

using positions = os::tensor<int, S/X>;

#ifdef SHOULD_FAIL
auto f(os::tensor<float, S/X, F, P> const& x, positions const& at) { return os::rope<S, F, P>(x, at, at); }
#else
auto f(os::tensor<float, S/X, F, P> const& x, positions const& at) { return os::rope<S, F, P>(x, at); }
#endif
