// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a sequence is to be striped for other mesh axes than those that divide it
// error: stripe: os::stripe<S/X>(A): the axis is whole, or divided over the mesh axes that it is striped for
// error: stripes_sharding_mismatch<
#include <ostraka/operations/positions/stripe.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using tokens = os::tensor<int, H, Q/X>;

#ifdef SHOULD_FAIL
auto f(tokens const& t) { return os::stripe<Q/Y>(t); }
#else
auto f(tokens const& t) { return os::stripe<Q/X>(t); }
#endif
