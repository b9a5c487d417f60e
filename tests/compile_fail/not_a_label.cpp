// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a label says how it is divided
// error: relabel: a label is an axis, and its division is that of the axis that it stands for; write I rather than I/X
// error: not_a_label<ostraka::over<I_axis, X_mesh> >
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a) { return os::einsum<>(os::relabel<I / X, I>(a)); }
#else
auto f(os::tensor<float, I / X, J> const& a) { return os::einsum<>(os::relabel<I, I>(a)); }
#endif
