// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a transpose does not name all axes
// error: transpose: it names all axes of the tensor
// error: transpose_leaves_out<K_axis, sharding<over<I_axis, X_mesh>, J_axis, K_axis>>
#include <ostraka/operations/shapes/transpose.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J, K> const& a) { return os::transpose<J, I>(a); }
#else
auto f(os::tensor<float, I/X, J, K> const& a) { return os::transpose<J, I, K>(a); }
#endif
