// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a loss is summed over X and still varies along Y
// error: value_and_grad: a loss that differs along a mesh axis has a gradient for each device
// error: loss_varies_where_gradient_does_not<Y_mesh, sharding<varying<Y_mesh>>, sharding<>>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

auto f(os::tensor<double> const& p, os::tensor<double, I/X, J/Y> const& x) {
  return os::shard_map<>(
      [](auto w, auto block) {
        return os::value_and_grad([&](auto const& v) {
                 auto const of_rows = os::psum<X>(os::multiply(v, os::sum<>(block)));
#ifdef SHOULD_FAIL
                 return of_rows;
#else
                 return os::psum<Y>(of_rows);
#endif
               })(w)
            .gradient;
      },
      p, x);
}
