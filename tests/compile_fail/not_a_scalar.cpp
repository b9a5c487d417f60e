// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the number of a tensor that has axes
// error: value: a tensor without axes holds one number; reduce the others first, as in os::sum<>(A), or read A.local()
// error: not_a_scalar<sharding<over<I_axis, X_mesh>>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/arrays/value.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
float f(os::tensor<float, I / X> const& a) { return os::value(a); }
#else
float f(os::tensor<float, I / X> const& a) { return os::value(os::sum<>(a)); }
#endif
