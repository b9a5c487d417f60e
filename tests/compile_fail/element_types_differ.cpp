// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: operands hold elements of different types
// error: elements: tensors that meet in an operation, and both sides of an assignment, have the same element type; convert one with os::cast first
// error: element_types_differ<float, double>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/elements/map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<double, J, K> const& b) { return os::einsum<I / X, K>(a, b); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<double, J, K> const& b) {
  return os::einsum<I / X, K>(os::map([](float v) { return double(v); }, a), b);
}
#endif
