// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools are the operands of an einsum
// error: reduction: bools are neither summed nor multiplied;
// error: bools_do_not_add<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X, J> const& a, os::tensor<bool, J> const& b) { return os::einsum<I/X>(a, b); }
#else
auto f(os::tensor<bool, I/X, J> const& a, os::tensor<bool, J>) { return os::einsum<J, I/X>(a); }
#endif
