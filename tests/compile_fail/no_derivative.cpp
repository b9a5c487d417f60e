// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation without a rule meets a variable
// control: alone
// error: derivative: an operation on variables has a rule
// error: no_derivative<
#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct twice : os::detail::moves_nothing {
  static constexpr char const* name = "twice";
  template <class A>
  using verdict = os::reason::ok;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    return os::add(a, a);
  }
};

#ifdef SHOULD_FAIL
auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(os::detail::operate(twice{}, x)); })(p);
}
#else
template <>
struct ostraka::derivative_of<twice> {
  template <class Result, class A>
  static auto pullback(twice, Result const&, A const&) {
    return detail::scaled_pullback<double>{2};
  }
};

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(os::detail::operate(twice{}, x)); })(p);
}
#endif
