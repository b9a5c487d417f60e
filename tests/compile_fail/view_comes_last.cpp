// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the view of os::from_local stands before the extents
// error: from_local, copy_from_local: the view of this device's block comes last, after the extents; write os::from_local<float, I/X>(mesh, I = 8, view)
// error: view_comes_last<ostraka::named_extent<I_axis>
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, os::tensor<float, I / X> const& a) {
  return os::from_local<float, I / X>(mesh, a.local(), I = 8);
}
#else
auto f(os::mesh<X_mesh> const& mesh, os::tensor<float, I / X> const& a) {
  return os::from_local<float, I / X>(mesh, I = 8, a.local());
}
#endif
