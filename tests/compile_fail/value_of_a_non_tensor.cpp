// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::value of what is a number already
// error: value: os::value takes the number out of a tensor without axes, and this is no tensor; leave os::value out where an operation gives a number, as os::global_norm does
// error: value_of_a_non_tensor<double>
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double f(os::tensor<double, I/X> const& a) { return os::value(os::global_norm(a)); }
#else
double f(os::tensor<double, I/X> const& a) { return os::global_norm(a); }
#endif
