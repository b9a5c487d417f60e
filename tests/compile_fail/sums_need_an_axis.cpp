// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::sum_over_points returns an array, and no axis names the sums
// error: sum_over_points: the function returns an array, so there are several sums, which need an axis
// error: sums_need_an_axis<
#include <array>

#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

auto call(os::ghosted_array<float, os::halo<I, 1>/X> const& u) {
  auto const square = [](float x) { return std::array{x, x * x}; };
#ifdef SHOULD_FAIL
  return os::sum_over_points(square, u);
#else
  return os::sum_over_points<K>(square, u);
#endif
}
