// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function of summands that are not added yet
// error: partial: the operation needs values
// error: partial_in_nonlinear_operation<X_mesh, operation::gelu>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::gelu(a); }
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::gelu(os::all_reduce<X>(a)); }
#endif
