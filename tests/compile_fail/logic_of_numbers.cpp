// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: numbers are combined as if they were bools
// error: operator: &&, || and ! combine tensors of bools; compare numbers first, as in A > 0, or convert them, as in os::cast<bool>(A)
// error: logic_of_numbers<float, operation::logical_and>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a, os::tensor<bool, I> const& b) { return b && a; }
#else
auto f(os::tensor<float, I> const& a, os::tensor<bool, I> const& b) { return b && a > 0; }
#endif
