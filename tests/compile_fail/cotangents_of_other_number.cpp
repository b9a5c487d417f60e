// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a derivative of one's own gives one cotangent of two
// error: custom_vjp: the second function gives one cotangent for each operand
// error: cotangents_of_other_number<
#include <ostraka/gradient.hpp>
#include <tuple>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
#ifdef SHOULD_FAIL
  auto const product =
      os::custom_vjp([](auto const& a, auto const& b) { return os::multiply(a, b); },
                     [](auto const& g, auto const&, auto const&, auto const& b) { return os::multiply(g, b); });
  return os::value_and_grad([product](auto const& x) { return os::sum<>(product(x, x)); })(p);
#else
  auto const product = os::custom_vjp([](auto const& a, auto const& b) { return os::multiply(a, b); },
                                      [](auto const& g, auto const&, auto const& a, auto const& b) {
                                        return std::tuple(os::multiply(g, b), os::multiply(g, a));
                                      });
  return os::value_and_grad([product](auto const& x) { return os::sum<>(product(x, x)); })(p);
#endif
}
