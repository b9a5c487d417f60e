// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the plan of a product with a tensor of partial minima
// error: reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima;
// error: partial_of_another_kind<partial_min<X_mesh>, operation::sum>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto p = os::plan_of<os::dims<I, K>, os::sharding_of<I, J, os::partial_min(X)>, os::sharding_of<J, K>>;
#else
constexpr auto p = os::plan_of<os::dims<I, K>, os::sharding_of<I, J, os::partial(X)>, os::sharding_of<J, K>>;
#endif
