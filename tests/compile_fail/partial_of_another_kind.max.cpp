// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the maximum of a partial tensor
// error: reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima;
// error: partial_of_another_kind<partial_sum<X_mesh>, operation::max>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a) { return os::max<I>(a); }
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a) { return os::sum<I>(a); }
#endif
