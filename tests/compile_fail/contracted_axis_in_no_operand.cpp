// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the list of contracted axes has one that no operand has
// error: contract: a contracted axis is an axis of an operand; drop it from the list
// error: contracted_axis_in_no_operand<L_axis>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) { return os::contract<J, L>(a, b); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) { return os::contract<J>(a, b); }
#endif
