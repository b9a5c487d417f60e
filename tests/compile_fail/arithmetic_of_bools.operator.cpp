// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools are multiplied by an operator
// error: arithmetic: bools are not numbers
// error: arithmetic_of_bools<operation::multiply>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X> const& a) { return a * a; }
#else
auto f(os::tensor<bool, I/X> const& a) { return a && a; }
#endif
