// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: summands hold elements of different types
// error: elements: tensors that meet in an operation, and both sides of an assignment, have the same element type; convert one with os::cast first
// error: element_types_differ<float, double>
#include <ostraka/elements/arithmetic.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a, os::tensor<double, I / X> const& b) { return os::add(a, b); }
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I / X> const& b) { return os::add(a, b); }
#endif
