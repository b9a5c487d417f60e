// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of two axes gets one label
// error: relabel: each axis of the tensor gets one label, in the order of the axes; give as many labels as the tensor has axes
// error: wrong_number_of_labels<1, 2>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a) { return os::einsum<>(os::relabel<I>(a)); }
#else
auto f(os::tensor<float, I / X, J> const& a) { return os::einsum<>(os::relabel<I, I>(a)); }
#endif
