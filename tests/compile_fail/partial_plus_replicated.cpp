// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial sum is added to a tensor that is not partial
// error: partial: summands are added, and factors multiplied, only with tensors that are partial over the same mesh axes, because the other operand would otherwise be counted once per device; reduce the partial one first, or ask for the other as a partial result
// error: partial_plus_replicated<X_mesh>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I> const& b) { return os::add(a, b); }
#else
auto f(os::tensor<float, I, os::partial(X)> const& a, os::tensor<float, I> const& b) {
  return os::add(os::reshard<I>(a), b);
}
#endif
