// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a gradient is asked for with axes that are not its parameter's
// error: value_and_grad: a gradient has its parameter's axes, in their order, under any sharding
// error: cotangent_of_other_axes<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using wanted = os::dims<J, I, os::partial(X)>;
#else
using wanted = os::dims<I, J, os::partial(X)>;
#endif

auto f(os::tensor<float, I, J> const& w) {
  return os::value_and_grad<wanted>([](auto const& x) { return os::sum<>(x); })(w);
}
