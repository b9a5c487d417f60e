// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a result inside a body is to be divided over a manual mesh axis
// error: shard_map: inside a body a result is each device's own, so manual mesh axes do not divide it
// error: manual_axis_divides_result<X_mesh, sharding<over<I_axis, X_mesh>, K_axis, varying<X_mesh>>>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J, K> const& b) {
  return os::shard_map<I/X, K>([](auto l, auto r) { return os::einsum<I/X, K>(l, r); }, a, b);
}
#else
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J, K> const& b) {
  return os::shard_map<I/X, K>([](auto l, auto r) { return os::einsum<I, K>(l, r); }, a, b);
}
#endif
