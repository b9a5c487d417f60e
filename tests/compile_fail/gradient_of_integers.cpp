// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an optimiser is given a gradient of integers
// error: update: an optimiser moves parameters by small steps, and integers have none
// error: gradient_of_integers<
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using gradient = os::tensor<std::int32_t, I/X>;
#else
using gradient = os::tensor<float, I/X>;
#endif

void f(os::tensor<float, I/X> const& p, gradient const& g) {
  os::sgd const optimizer;
  optimizer.update(p, g, optimizer.init(p, os::split_over<X>));
}
