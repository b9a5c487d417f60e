// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a value is taken from a partial sum
// error: partial: summands are added, and factors multiplied, only with tensors that are partial over the same mesh axes, because the other operand would otherwise be counted once per device
// error: partial_plus_replicated<X_mesh>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I> const& b) { return os::subtract(a, b); }
#else
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I> const& b) {
  return os::subtract(os::all_reduce<X>(a), b);
}
#endif
