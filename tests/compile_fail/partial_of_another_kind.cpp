// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the sum of a tensor of partial maxima
// error: reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima; reduce the operand first with os::all_reduce or os::reduce_scatter, and ask for a partial result of the operation's own kind
// error: partial_of_another_kind<partial_max<X_mesh>, operation::sum>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial_max(X)> const& a) { return os::sum<I>(a); }
#else
auto f(os::tensor<float, I, J, os::partial_max(X)> const& a) { return os::sum<I>(os::all_reduce<X>(a)); }
#endif
