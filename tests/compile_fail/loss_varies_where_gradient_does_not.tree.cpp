// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one leaf of a tree does not vary along X, where the loss does; a region of os::checkpoint in between
// error: value_and_grad: a loss that differs along a mesh axis has a gradient for each device
// error: loss_varies_where_gradient_does_not<X_mesh, sharding<varying<X_mesh>>, sharding<>>
#include <ostraka/gradient.hpp>
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct affine {
  os::leaf<L, double, I/X> rows;
  os::leaf<L, double> shift;
};

auto f(affine<os::values> const& p) {
  return os::shard_map<I/X>(
      [](auto const& q) {
        auto loss = [](auto const& v) {
          return os::checkpoint([](auto const& rows, auto const& shift) {
            return os::multiply(os::sum<>(rows), shift);
          })(v.rows, v.shift);
        };
#ifdef SHOULD_FAIL
        return os::value_and_grad(loss)(q).gradient.rows;
#else
        return os::value_and_grad(loss)(os::pvary<X>(q)).gradient.rows;
#endif
      },
      p);
}
