// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: gradients that are partial are clipped
// error: partial: the operation needs values, and a partial tensor holds parts of them
// error: partial_in_nonlinear_operation<X_mesh
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using gradient = os::tensor<float, I, os::partial(X)>;
#else
using gradient = os::tensor<float, I/X>;
#endif

void f(gradient const& g) { os::clip_by_global_norm(g, 1.0); }
