// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a struct has a tensor with the same axis twice
// error: sharding: an axis occurs in a tensor at most once; give the second one a name of its own, as os::rename does
// error: axis_used_twice<I_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
struct layer {
  os::tensor<float, I, I> weights;
};
#else
struct layer {
  os::tensor<float, I, J> weights;
};
#endif
