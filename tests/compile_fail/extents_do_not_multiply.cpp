// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is split into axes whose static extents do not multiply to its own
// error: split, merge: the extent of the merged axis is the product of the extents of its two parts
// error: extents_do_not_multiply<HD_axis, H_axis, D_axis, 
#include <ostraka/operations/shapes/split.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(HD, 5120);
OSTRAKA_AXIS(H, 40);
#ifdef SHOULD_FAIL
OSTRAKA_AXIS(D, 64);
#else
OSTRAKA_AXIS(D, 128);
#endif

#ifdef SHOULD_FAIL
auto f(os::tensor<float, HD> const& a) { return os::split<HD, H, D>(a); }
#else
auto f(os::tensor<float, HD> const& a) { return os::split<HD, H, D>(a); }
#endif
