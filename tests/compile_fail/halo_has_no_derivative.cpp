// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the derivative of a halo is asked for
// control: alone
// error: exchange_halo: halos of variables have no derivative yet
// error: halo_has_no_derivative<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) {
    return os::shard_map<>(
        [](auto a) {
#ifdef SHOULD_FAIL
          return os::psum<X>(os::sum<>(os::own(os::exchange_halo<os::halo<I, 1>/X>(a))));
#else
          return os::psum<X>(os::sum<>(os::own(os::exchange_halo<os::halo<I, 1>/X>(os::stop_gradient(a)))));
#endif
        },
        x);
  })(p);
}
