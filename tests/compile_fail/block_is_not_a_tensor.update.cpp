// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an optimiser is called in the body of os::shard_map
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::update>
#include <ostraka/local_view.hpp>
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

void f(os::tensor<float, I/X> const& p, os::tensor<float, I/X> const& g) {
  os::adam const optimizer;
#ifdef SHOULD_FAIL
  os::shard_map<I/X>([&](auto const& w) { return static_cast<void>(optimizer.init(w)), w; }, p);
#else
  optimizer.update(p, g, optimizer.init(p));
#endif
}
