// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a padded block is mapped
// error: halo: operations on tensors do not take a padded block, because they would count the elements that it copies from its neighbours again on every device; use os::stencil, or take its own part with os::own(a)
// error: halo_meets_operation<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b);
        os::map([](float x) { return x; }, padded);
        return b;
      },
      a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>(
      [](auto b) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(b);
        return os::map([](float x) { return x; }, os::own(padded));
      },
      a);
}
#endif
