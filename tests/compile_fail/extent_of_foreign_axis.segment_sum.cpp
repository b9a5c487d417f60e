// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::segment_sum is given the extent of an axis other than that of the segments
// error: sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, from which each tensor takes its own
// error: extent_of_foreign_axis<D_axis>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(S);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, D> const& data, os::tensor<int, I> const& ids) {
  return os::segment_sum<I, S>(data, ids, S = 10, D = 3);
}
#else
auto f(os::tensor<float, I, D> const& data, os::tensor<int, I> const& ids) {
  return os::segment_sum<I, S>(data, ids, S = 10);
}
#endif
