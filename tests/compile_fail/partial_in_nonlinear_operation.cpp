// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation that wants values is given a partial tensor
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b)); reduce it first with os::all_reduce or os::reduce_scatter, or, if the function of an os::map preserves such parts, say so in os::preserves
// error: partial_in_nonlinear_operation<X_mesh, operation::map>
#include <ostraka/elements/map.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::map([](float v) { return v * v; }, a); }
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::map([](float v) { return v * v; }, os::reshard<I / X>(a));
}
#endif
