// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a variable that is partial over a manual mesh axis enters a body
// control: alone
// error: shard_map: a variable that is partial over a manual mesh axis would have a cotangent for each summand
// error: partial_variable_enters<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J> const& p) {
  return os::value_and_grad([](auto const& x) {
    auto const sums = os::sum<J, os::partial(X)>(x);
#ifdef SHOULD_FAIL
    return os::shard_map<>([](auto a) { return os::psum<X>(os::sum<>(os::multiply(a, a))); }, sums);
#else
    return os::shard_map<>([](auto a) { return os::sum<>(os::multiply(a, a)); }, os::reshard<J>(sums));
#endif
  })(p);
}
