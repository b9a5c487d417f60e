// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what a contraction keeps has more than eight axes
// error: sharding: a tensor has at most eight axes, the rank of a Kokkos::View; merge axes that are never named alone
// error: too_many_axes<10>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(A);
OSTRAKA_AXIS(B);
OSTRAKA_AXIS(C);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(G);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, A, B, C, D, E, F> const& a, os::tensor<float, F, G, H, I, J, K> const& b) {
  return os::contract<F>(a, b);
}
#else
auto f(os::tensor<float, A, B, C, D, E, F> const& a, os::tensor<float, F, G, H> const& b) {
  return os::contract<F>(a, b);
}
#endif
