// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: queries and keys are divided over one mesh axis
// error: attention: a mesh axis divides keys and, along another axis, queries
// error: keys_are_divided_as_queries<X_mesh, 
#include <ostraka/moves/all_gather.hpp>
#include <ostraka/operations/attention/attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H, Q/X, D>;
using keys = os::tensor<float, H, K/X, D>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k) { return os::attention<Q, K/X, D>(q, k, k); }
#else
auto f(queries const& q, keys const& k) {
  return os::attention<Q, K, D>(q, os::all_gather<X>(k), os::all_gather<X>(k));
}
#endif
