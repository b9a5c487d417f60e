// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is split that a mesh axis of a static size divides within a head
// error: split, merge: blocks of the merged axis hold whole indices of the major one
// error: major_axis_is_divided_unevenly<H_axis, D_axis, 
#include <ostraka/operations/shapes/split.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(HD, 5120);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D, 128);
#ifdef SHOULD_FAIL
OSTRAKA_MESH_AXIS(X, 16);
#else
OSTRAKA_MESH_AXIS(X, 8);
#endif

#ifdef SHOULD_FAIL
auto f(os::tensor<float, HD/X> const& a) { return os::split<HD, H, D>(a); }
#else
auto f(os::tensor<float, HD/X> const& a) { return os::split<HD, H, D>(a); }
#endif
