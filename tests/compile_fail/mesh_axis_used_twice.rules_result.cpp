// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function over rules names a result whose axes they divide alike
// error: sharding: a mesh axis is used by a tensor at most once,
// error: mesh_axis_used_twice<X_mesh, batch_axis, hidden_axis>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

template <auto R>
auto up(os::tensor_under<R, float, batch, embed> const& x, os::tensor_under<R, float, embed, hidden> const& w) {
  return os::einsum<R(batch, hidden)>(x, w);
}

#ifdef SHOULD_FAIL
constexpr os::rules<batch / X, hidden / X> S;
#else
constexpr os::rules<batch / X, hidden / Y> S;
#endif

auto f(os::tensor_under<S, float, batch, embed> const& x, os::tensor_under<S, float, embed, hidden> const& w) {
  return up<S>(x, w);
}
