// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a fraction meets integers in an operator
// error: number_of_another_kind<double, int>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I/X> const& a) { return a < 2.5; }
#else
auto f(os::tensor<int, I/X> const& a) { return a < 3; }
#endif
