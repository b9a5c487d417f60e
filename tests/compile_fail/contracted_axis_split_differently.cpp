// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a contracted axis is divided over one mesh axis on the left and over another on the right, or over the same
//       ones in another order
// error: contract: a contracted axis is divided alike in both operands, and here the mesh axes or their order differ; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it) or an all-to-all of one of them (moves (n-1)/n^2), or reshard one first
// error: contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) { return os::contract<J>(a, b); }
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) { return os::einsum<I, K>(a, b); }
#endif
