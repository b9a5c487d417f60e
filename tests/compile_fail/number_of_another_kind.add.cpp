// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: half of one is added to integers
// error: number: a number that meets elements is of their kind: a whole number for integers, a real one for float, double and 16-bit elements
// error: number_of_another_kind<double, int>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I / X> const& a) { return os::add(a, 0.5); }
#else
auto f(os::tensor<int, I / X> const& a) { return os::add(os::cast<double>(a), 0.5); }
#endif
