// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an os::sizes is made with an axis twice
// error: sizes: an extent is given once;
// error: extent_given_twice<I_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto s = os::sizes(I = 2, I = 4);
#else
constexpr auto s = os::sizes(I = 2, J = 4);
#endif
