// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a product that is to be partial by a maximum
// error: reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima;
// error: partial_of_another_kind<partial_max<X_mesh>, operation::sum>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K, os::partial_max(X)>(a, b);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K, os::partial(X)>(a, b);
}
#endif
