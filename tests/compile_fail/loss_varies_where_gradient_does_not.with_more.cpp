// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the loss that varies comes with other results, in a second derivative
// error: value_and_grad: a loss that differs along a mesh axis has a gradient for each device
// error: loss_varies_where_gradient_does_not<X_mesh, sharding<varying<X_mesh>>, sharding<>>
#include <ostraka/gradient.hpp>
#include <tuple>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double> const& p, os::tensor<double, I/X> const& x) {
  return os::shard_map<>(
      [](auto w, auto block) {
        return os::value_and_grad([&](auto const& v) {
                 auto const inner = os::value_and_grad([&](auto const& u) {
                   auto const own = os::multiply(os::multiply(u, u), os::sum<>(block));
#ifdef SHOULD_FAIL
                   return std::tuple(own, own);
#else
                   return std::tuple(os::psum<X>(own), own);
#endif
                 })(v);
                 return inner.gradient;
               })(w)
            .gradient;
      },
      p, x);
}
