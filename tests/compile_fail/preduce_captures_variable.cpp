// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::preduce captures a variable
// error: preduce: the program's function depends on its arguments alone, but it captures a variable
// error: preduce_captures_variable<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p, os::tensor<double> const& w) {
  return os::value_and_grad([&](auto const& x) {
    return os::shard_map<>(
        [](auto a, auto b) {
          auto const total = os::psum<X>(os::sum<>(a));
#ifdef SHOULD_FAIL
          auto const weighted = [&](auto const& l, auto const& r) { return os::multiply(total, os::multiply(l, r)); };
#else
          auto const weighted = [&](auto const& l, auto const& r) {
            return os::multiply(os::stop_gradient(total), os::multiply(l, r));
          };
#endif
          return os::multiply(b, os::preduce<X>(weighted, os::sum<>(a)));
        },
        x, w);
  })(p);
}
