// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::one_hot is given the extent of an axis other than the one that it makes
// error: sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, from which each tensor takes its own
// error: extent_of_foreign_axis<D_axis>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(V);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, B/X> const& tokens) { return os::one_hot<float, V>(tokens, V = 10, D = 3); }
#else
auto f(os::tensor<int, B/X> const& tokens) { return os::one_hot<float, V>(tokens, V = 10, os::in_range); }
#endif
