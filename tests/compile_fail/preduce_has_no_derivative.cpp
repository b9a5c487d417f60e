// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the derivative of os::preduce is asked for
// control: alone
// error: preduce: nothing is known of the derivative of the program's function
// error: preduce_has_no_derivative<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) {
    return os::shard_map<>(
        [](auto a) {
          auto const largest = [](auto const& b, auto const& c) { return os::add(b, c); };
#ifdef SHOULD_FAIL
          return os::preduce<X>(largest, os::sum<>(a));
#else
          return os::preduce<X>(largest, os::stop_gradient(os::sum<>(a)));
#endif
        },
        x);
  })(p);
}
