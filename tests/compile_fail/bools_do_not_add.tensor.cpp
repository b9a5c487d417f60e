// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools that are partial sums
// error: reduction: bools are neither summed nor multiplied;
// error: bools_do_not_add<
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<bool, I, os::partial(X)> a;
#else
os::tensor<bool, I, os::partial_or(X)> a;
#endif
