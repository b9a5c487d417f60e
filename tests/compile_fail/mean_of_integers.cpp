// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mean of a tensor of integers
// error: mean: the mean of integers is not an integer; convert them first, as in os::cast<double>(A), or divide os::sum and round the quotient as you need
// error: mean_of_integers<int>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I, J / X> const& a) { return os::mean<I>(a); }
#else
auto f(os::tensor<int, I, J / X> const& a) {
  return os::mean<I>(os::map([](int v) { return double(v); }, a));
}
#endif
