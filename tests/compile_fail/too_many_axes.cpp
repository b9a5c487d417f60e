// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor has more than eight axes
// error: sharding: a tensor has at most eight axes, the rank of a Kokkos::View; merge axes that are never named alone
// error: too_many_axes<9>
#include <ostraka/tensors/tensor.hpp>
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

#ifdef SHOULD_FAIL
os::tensor<float, A, B, C, D, E, F, G, H, I> T;
#else
os::tensor<float, A, B, C, D, E, F, G, H> T;
#endif
