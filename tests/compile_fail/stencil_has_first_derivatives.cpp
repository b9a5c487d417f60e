// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the derivative of a gradient goes through a stencil
// control: alone
// error: stencil: its function states first derivatives only
// error: stencil_has_first_derivatives<mean>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct mean {
  template <class U>
  KOKKOS_FUNCTION double operator()(U const& u) const {
    return (u(-1) + u(1)) / 2;
  }
  template <class U>
  KOKKOS_FUNCTION double derivative(os::neighbour<1> n, U const&) const {
    return n[0] == 0 ? 0 : 0.5;
  }
};

auto f(os::tensor<double, I/X> const& p) {
  auto const loss = [](auto const& x) {
    return os::shard_map<>(
        [](auto a) { return os::psum<X>(os::sum<>(os::stencil(mean{}, os::exchange_halo<os::halo<I, 1>/X>(a)))); }, x);
  };
#ifdef SHOULD_FAIL
  return os::value_and_grad([&](auto const& x) { return os::sum<>(os::value_and_grad(loss)(x).gradient); })(p);
#else
  return os::value_and_grad(loss)(p);
#endif
}
