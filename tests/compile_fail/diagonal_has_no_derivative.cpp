// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the diagonal of a variable is taken
// error: relabel: a diagonal is taken of a plain tensor, and this is a variable
// error: diagonal_has_no_derivative<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<double, I/X, J> const& p, os::tensor<double, I/X, J> const& mask) {
  return os::value_and_grad([](auto const& x, auto const& of_diagonal) {
#ifdef SHOULD_FAIL
    auto const trace = os::einsum<>(os::relabel<I, I>(os::reshard<I, J>(x)));
#else
    auto const trace = os::sum<>(x * of_diagonal);
#endif
    return trace * trace + 0.0 * os::sum<>(of_diagonal);
  })(p, mask);
}
