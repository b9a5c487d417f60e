// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an optimiser is to change a parameter that is partial
// error: update: an optimiser changes values, and a partial parameter holds parts of them
// error: parameter_is_partial<
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using parameter = os::tensor<float, I, os::partial(X)>;
#else
using parameter = os::tensor<float, I>;
#endif

void f(parameter const& p, os::tensor<float, I, os::partial(X)> const& g) {
  os::sgd const optimizer;
  optimizer.update(p, g, optimizer.init(p));
}
