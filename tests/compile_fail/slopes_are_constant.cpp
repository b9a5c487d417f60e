// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a derivative with respect to ALiBi's slopes is asked for
// error: attention: the slopes of os::alibi have no derivative
// os::bias error: slopes_are_constant<
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(H);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

using queries = os::tensor<float, H/X, Q, D>;
using keys = os::tensor<float, H/X, K, D>;
using heads = os::tensor<float, H/X>;

#ifdef SHOULD_FAIL
auto f(queries const& q, keys const& k, heads const& s) {
  return os::value_and_grad(
      [&](auto const& slopes) { return os::sum<>(os::attention<Q, K, D>(q, k, k, os::alibi(slopes))); })(s);
}
#else
auto f(queries const& q, keys const& k, heads const& s) {
  return os::value_and_grad([&](auto const& p) { return os::sum<>(os::attention<Q, K, D>(p, k, k, os::alibi(s))); })(q);
}
#endif
