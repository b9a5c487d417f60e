// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: rows that are divided are summed by segments without a result that is named
// error: segment_sum: nothing moves unless the result is named, and the rows of a segment are on several devices here; name the result to authorise the reduction, as segment_sum<I, S, S/X, D>(data, ids, S = n), or os::partial(X) in it for each device's own sums
// error: segments_are_on_several_devices<I_axis, S_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, D> const& data, os::tensor<int, I/X> const& ids) {
  return os::segment_sum<I, S>(data, ids, S = 10);
}
#else
auto f(os::tensor<float, I/X, D> const& data, os::tensor<int, I/X> const& ids) {
  return os::segment_sum<I, S, S/X, D>(data, ids, S = 10);
}
#endif
