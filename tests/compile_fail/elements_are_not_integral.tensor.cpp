// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: floating-point numbers that are partial bit by bit
// error: reduction: only integers and bools are combined bit by bit;
// error: elements_are_not_integral<float, partial_or<X_mesh>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<float, I, os::partial_or(X)> a;
#else
os::tensor<std::int32_t, I, os::partial_or(X)> a;
#endif
