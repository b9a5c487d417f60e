// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of a region gives two tensors
// error: checkpoint: the function of a region gives one tensor
// error: region_result_is_not_a_tensor<
#include <ostraka/gradient.hpp>
#include <tuple>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
#ifdef SHOULD_FAIL
  return os::value_and_grad([](auto const& x) {
    auto const layer = os::checkpoint([](auto const& h) { return std::tuple(h, os::scale(h, 2.0)); });
    return os::sum<>(std::get<0>(layer(x)));
  })(p);
#else
  return os::value_and_grad([](auto const& x) {
    auto const layer = os::checkpoint([](auto const& h) { return os::scale(h, 2.0); });
    return os::sum<>(layer(x));
  })(p);
#endif
}
