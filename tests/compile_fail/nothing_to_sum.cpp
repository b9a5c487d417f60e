// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::sum_over_points returns nothing
// error: sum_over_points: the function returns what is summed at each point; return it, or call os::for_each_point, which sums nothing
// error: nothing_to_sum<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void call(os::ghosted_array<float, os::halo<I, 1>/X> const& u) {
  static_cast<void>(os::sum_over_points([](float& x) { x *= 2; }, u));
}
#else
void call(os::ghosted_array<float, os::halo<I, 1>/X> const& u) {
  static_cast<void>(os::sum_over_points([](float& x) { return x *= 2; }, u));
}
#endif
