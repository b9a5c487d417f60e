// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of an os::preduce of variables maps by one that does not say its derivative
// control: alone
// error: map: a function of variables states its derivative in members: derivative(x), or derivative<K>(x, y) for several arguments, and for derivatives of derivatives second_derivative(x), or second_derivative<K, L>(x, y)
// error: function_has_no_derivative<product>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
struct product {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& a, T const& b) const {
    return a * b;
  }
};
#else
struct product {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& a, T const& b) const {
    return a * b;
  }
  template <int K, class T>
  KOKKOS_FUNCTION T derivative(T const& a, T const& b) const {
    return K == 0 ? b : a;
  }
};
#endif

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) {
    return os::shard_map<>(
        [](auto a) {
          return os::preduce<X>([](auto const& l, auto const& r) { return os::map(product{}, l, r); }, os::sum<>(a));
        },
        x);
  })(p);
}
