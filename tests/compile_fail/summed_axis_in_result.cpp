// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the result of a sum by segments has the axis of the rows
// error: segment_sum: the axis of the segments replaces the axis of the rows; name a result without the latter, as segment_sum<I, S, S, D>(data, ids, S = n)
// error: summed_axis_in_result<I_axis, S_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(D);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, D> const& data, os::tensor<int, I> const& ids) {
  return os::segment_sum<I, S, S, I, D>(data, ids, S = 10);
}
#else
auto f(os::tensor<float, I, D> const& data, os::tensor<int, I> const& ids) {
  return os::segment_sum<I, S, S, D>(data, ids, S = 10);
}
#endif
