// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::map of a variable is given a function that does not say its derivative
// control: alone
// error: map: a function of variables states its derivative in members: derivative(x), or derivative<K>(x, y) for several arguments, and for derivatives of derivatives second_derivative(x), or second_derivative<K, L>(x, y)
// error: function_has_no_derivative<halved>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
struct halved {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& x) const {
    return x / 2;
  }
};
#else
struct halved {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& x) const {
    return x / 2;
  }
  template <class T>
  KOKKOS_FUNCTION T derivative(T const&) const {
    return T(0.5);
  }
};
#endif

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(os::map(halved{}, x)); })(p);
}
