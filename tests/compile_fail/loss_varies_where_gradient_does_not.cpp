// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: in the body of os::shard_map a loss that varies along X is differentiated by what does not
// error: value_and_grad: a loss that differs along a mesh axis has a gradient for each device
// error: loss_varies_where_gradient_does_not<X_mesh, sharding<varying<X_mesh>>, sharding<J_axis>>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, J> const& p, os::tensor<double, I/X, J> const& x) {
  return os::shard_map<J, os::partial(X)>(
      [](auto w, auto rows) {
        auto loss = [&](auto const& v) { return os::sum<>(os::einsum<I>(rows, v)); };
#ifdef SHOULD_FAIL
        return os::pvary<X>(os::value_and_grad(loss)(w).gradient);
#else
        return os::value_and_grad(loss)(os::pvary<X>(w)).gradient;
#endif
      },
      p, x);
}
