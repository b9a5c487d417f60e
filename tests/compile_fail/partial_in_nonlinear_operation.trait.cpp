// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function that is said to keep maxima is given a partial sum
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::map>
// control: alone
#include <ostraka/elements/map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct relu {
  KOKKOS_FUNCTION float operator()(float v) const { return v > 0 ? v : 0; }
};
template <os::reduction Kind>
inline constexpr os::preservation os::preserves<relu, Kind> = os::non_decreasing(Kind);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::map(relu(), a); }
#else
auto f(os::tensor<float, I, os::partial_max(X)> const& a) { return os::map(relu(), a); }
#endif
