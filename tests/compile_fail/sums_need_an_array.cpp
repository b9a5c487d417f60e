// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::sum_over_points<K> is given a function that returns one number
// error: sum_over_points<K>: the axis names several sums, so the function returns a std::array or a Kokkos::Array
// error: sums_need_an_array<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

auto call(os::ghosted_array<float, os::halo<I, 1>/X> const& u) {
  auto const square = [](float x) { return x * x; };
#ifdef SHOULD_FAIL
  return os::sum_over_points<K>(square, u);
#else
  return os::sum_over_points(square, u);
#endif
}
