// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operator meets other elements
// error: element_types_differ<float, double>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<double, I/X> const& b) { return a + b; }
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<double, I/X> const& b) { return os::cast<double>(a) + b; }
#endif
