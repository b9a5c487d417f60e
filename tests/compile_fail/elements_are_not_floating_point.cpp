// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: whole numbers are turned
// error: operation: its result is not a whole number, so its elements are float, double, os::float16 or os::bfloat16
// error: elements_are_not_floating_point<int, 
#include <ostraka/operations/positions/rope.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P, 2);
OSTRAKA_AXIS(T, 3);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::int32_t, S/X, F, P> const& x) { return os::rope<S, F, P>(x); }
#else
auto f(os::tensor<float, S/X, F, P> const& x) { return os::rope<S, F, P>(x); }
#endif
