// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the DLPack tensor of os::copy_from_dlpack stands before the extents
// error: from_dlpack, copy_from_dlpack: a DLPack tensor comes last, after the extents:
// error: not_a_dlpack_tensor<
#include <ostraka/dlpack/from_dlpack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, os::dlpack::DLManagedTensor* p) {
  return os::copy_from_dlpack<float, I / X>(mesh, p, I = 8);
}
#else
auto f(os::mesh<X_mesh> const& mesh, os::dlpack::DLManagedTensor* p) {
  return os::copy_from_dlpack<float, I / X>(mesh, I = 8, p);
}
#endif
