// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what is added to a sum of gradients has another sharding
// error: accumulate: what is added to a sum has its sharding and its parts, because nothing moves
// error: accumulated_another_sharding<
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using gradient = os::tensor<float, I/X>;
#else
using gradient = os::tensor<float, I, os::partial(X)>;
#endif

void f(os::tensor<double, I, os::partial(X)> const& sum, gradient const& g) { os::accumulate(sum, g); }
