// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the derivative of os::preduce is asked for, and its function takes tensors of certain types
// error: preduce: the derivative calls the program's function on variables, and this one takes tensors of certain types alone
// error: preduce_has_no_derivative<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) {
    return os::shard_map<>(
        [](auto a) {
#ifdef SHOULD_FAIL
          auto const added = [](os::tensor<double> const& b, os::tensor<double> const& c) { return os::add(b, c); };
#else
          auto const added = [](auto const& b, auto const& c) { return os::add(b, c); };
#endif
          return os::preduce<X>(added, os::sum<>(a));
        },
        x);
  })(p);
}
