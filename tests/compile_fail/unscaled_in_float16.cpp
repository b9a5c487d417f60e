// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: gradients in float16 are divided by the factor of a scaled loss
// error: unscale: gradients in float16 that are divided by the factor of a loss vanish again
// error: unscaled_in_float16<
#include <ostraka/optimizers.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using element = os::float16;
#else
using element = os::bfloat16;
#endif

bool f(os::loss_scale& scaling, os::tensor<element, I/X> const& g) { return scaling.unscale(g); }
