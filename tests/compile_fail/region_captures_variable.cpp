// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of a region captures a variable
// error: checkpoint: the function depends on its arguments alone, but it captures a variable
// error: region_captures_variable<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
#ifdef SHOULD_FAIL
  return os::value_and_grad([](auto const& x) {
    auto const layer = os::checkpoint([&](auto const& h) { return os::multiply(h, x); });
    return os::sum<>(layer(x));
  })(p);
#else
  return os::value_and_grad([](auto const& x) {
    auto const layer = os::checkpoint([](auto const& h, auto const& g) { return os::multiply(h, g); });
    return os::sum<>(layer(x, x));
  })(p);
#endif
}
