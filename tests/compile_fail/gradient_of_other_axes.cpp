// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a parameter is updated by what is no gradient of it
// error: update: a gradient has its parameter's axes, in their order, under any sharding
// error: gradient_of_other_axes<
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using gradient = os::tensor<float, J, I>;
#else
using gradient = os::tensor<float, I, J/X>;
#endif

void f(os::tensor<float, I/X, J> const& p, gradient const& g) {
  os::adam const optimizer;
  optimizer.update(p, g, optimizer.init(p));
}
