// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the opposite of a number is asked for
// error: operator: &&, || and ! combine tensors of bools
// error: logic_of_numbers<int, operation::logical_not>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I> const& a) { return !a; }
#else
auto f(os::tensor<int, I> const& a) { return !(a != 0); }
#endif
