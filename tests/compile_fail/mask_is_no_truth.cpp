// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mask of fractions
// error: attention: a mask says of each key whether it is seen
// error: mask_is_no_truth<float>
#include <ostraka/operations/attention.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H/X, Q, D>;
using keys = os::tensor<float, H/X, K, D>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k, os::tensor<float, K> const& m) { return os::attention<Q, K, D>(q, k, k, m); }
#else
auto f(queries const& q, keys const& k, os::tensor<std::int32_t, K> const& m) {
  return os::attention<Q, K, D>(q, k, k, m);
}
#endif
