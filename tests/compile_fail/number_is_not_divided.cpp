// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a local variable hides the axis of its name
// error: sharding: a mesh axis divides an axis, and here a number stands before the /; rename the local variable or parameter that hides the axis of the same name
// error: number_is_not_divided<int, X_mesh>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
template <int I>
constexpr auto f() {
  return I / X;
}
static_assert(sizeof(f<8>()) > 0);
#else
template <int extent>
constexpr auto f() {
  return I / X;
}
static_assert(sizeof(f<8>()) > 0);
#endif
