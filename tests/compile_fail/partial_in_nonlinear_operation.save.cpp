// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is saved of which each device holds a part of a sum
// error: partial: the operation needs values, and a partial tensor holds parts of them
// error: partial_in_nonlinear_operation<X_mesh, operation::save>
#include <ostraka/files.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using tensor = os::tensor<float, I, os::partial(X)>;
#else
using tensor = os::tensor<float, I/X>;
#endif

void f(tensor const& a) { os::save("a.npy", a); }
