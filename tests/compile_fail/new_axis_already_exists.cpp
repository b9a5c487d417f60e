// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation is to make an axis that its operand has
// error: operation: the axis that it makes is not yet an axis of the tensor; choose another one, or os::rename that axis first
// error: new_axis_already_exists<I_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a) { return os::top_k<J, I>(a, I = 3); }
#else
auto f(os::tensor<float, I, J> const& a) { return os::top_k<J, K>(a, K = 3); }
#endif
