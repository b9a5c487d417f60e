// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: frequencies are divided where those of the operand are whole
// error: rope: frequencies are along the axis of frequencies alone, and divided as the operand is or whole; os::reshard them
// error: frequencies_sharding_mismatch<
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using queries = os::tensor<float, S/X, F, P>;

#ifdef SHOULD_FAIL
auto f(queries const& x, os::tensor<float, F/Y> const& by) { return os::rope<S, F, P>(x, by); }
#else
auto f(queries const& x, os::tensor<float, F> const& by) { return os::rope<S, F, P>(x, by); }
#endif
