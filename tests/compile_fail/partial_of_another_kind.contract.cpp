// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a contraction of a tensor of partial products
// error: reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima;
// error: partial_of_another_kind<partial_prod<X_mesh>, operation::sum>
#include <ostraka/algebra/contract.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial_prod(X)> const& a, os::tensor<float, J, K> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, I, J, os::partial_prod(X)> const& a, os::tensor<float, J, K> const& b) {
  return os::contract<J>(os::all_reduce<X>(a), b);
}
#endif
