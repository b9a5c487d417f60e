// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two axes are merged between which there is another
// error: merge: the minor axis comes directly after the major one
// error: merged_axes_not_adjacent<H_axis, D_axis, sharding<H_axis, S_axis, D_axis>>
#include <ostraka/operations/shapes/merge.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(HD);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(S);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, H, S, D> const& a) { return os::merge<H, D, HD>(a); }
#else
auto f(os::tensor<float, S, H, D> const& a) { return os::merge<H, D, HD>(a); }
#endif
