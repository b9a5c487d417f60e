// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of frequencies and a scaling of others follow the operand
// error: rope: a tensor of frequencies gives all of them, and os::rope_base and os::rope_scaling would be ignored; leave out one or the other
// error: frequencies_are_given_twice<
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, S/X, F, P>;

using frequencies = os::tensor<float, F>;

#ifdef SHOULD_FAIL
auto f(queries const& x, frequencies const& by) { return os::rope<S, F, P>(x, by, os::rope_scaling{}); }
#else
auto f(queries const& x, frequencies const& by) { return os::rope<S, F, P>(x, by, os::from_position(3)); }
#endif
