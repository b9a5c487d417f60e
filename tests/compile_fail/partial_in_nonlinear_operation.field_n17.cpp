// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tensors of summands are compared
// error: partial: the operation needs values, and a partial tensor holds parts of them
// error: partial_in_nonlinear_operation<X_mesh, operation::equal>
#include <ostraka/elements/operators.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
using summands = os::tensor<double, I, os::partial(X)>;

#ifdef SHOULD_FAIL
auto same(summands const& p) { return -5 * p == 2 * p; }
#else
auto same(summands const& p) { return -5 * os::all_reduce<X>(p) == 2 * os::all_reduce<X>(p); }
#endif
