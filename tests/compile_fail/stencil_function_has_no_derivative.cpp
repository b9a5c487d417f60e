// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::stencil of a variable is given a function that does not say its derivative
// control: alone
// error: stencil: a function of variables states its derivative with respect to the element at each neighbour n in members: derivative(n, x), or for several arguments derivative<K>(n, x, y) where argument K is padded and derivative<K>(x, y) where it is not
// error: stencil_function_has_no_derivative<mean>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
struct mean {
  template <class U>
  KOKKOS_FUNCTION double operator()(U const& u) const {
    return (u(-1) + u(1)) / 2;
  }
};
#else
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
#endif

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) {
    return os::shard_map<>(
        [](auto a) { return os::psum<X>(os::sum<>(os::stencil(mean{}, os::exchange_halo<os::halo<I, 1>/X>(a)))); }, x);
  })(p);
}
