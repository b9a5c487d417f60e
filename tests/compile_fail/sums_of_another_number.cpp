// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis of os::sum_over_points<K> has another extent than the array that the function returns
// error: sum_over_points<K>: the axis has an index for each element of the array that the function returns
// error: sums_of_another_number<
#include <array>

#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
#ifdef SHOULD_FAIL
OSTRAKA_AXIS(K, 3);
#else
OSTRAKA_AXIS(K, 2);
#endif
OSTRAKA_MESH_AXIS(X);

auto call(os::ghosted_array<float, os::halo<I, 1>/X> const& u) {
  return os::sum_over_points<K>([](float x) { return std::array{x, x * x}; }, u);
}
