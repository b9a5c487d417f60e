// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number stands for a condition
// error: where: the condition is a tensor of bools; compare numbers, as in A > 0, or convert them, as in os::cast<bool>(A)
// error: condition_of_numbers<float>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a) { return os::where(a, a, 0); }
#else
auto f(os::tensor<float, I> const& a) { return os::where(a > 0, a, 0); }
#endif
