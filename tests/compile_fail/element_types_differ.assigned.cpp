// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is assigned to one of other elements
// error: elements: tensors that meet in an operation, and both sides of an assignment, have the same element type; convert one with os::cast first, as in os::cast<double>(A)
// error: element_types_differ<double, float>
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<double, I / X, J> const& a, os::tensor<float, I / X, J>& b) { b = a; }
#else
void f(os::tensor<double, I / X, J> const& a, os::tensor<float, I / X, J>& b) { b = os::cast<float>(a); }
#endif
