// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a pointer to elements is given in the place of a DLPack tensor
// error: from_dlpack, copy_from_dlpack: a DLPack tensor comes last, after the extents: a DLManagedTensorVersioned*, a DLManagedTensor*, the result of os::to_dlpack, moved, or a PyObject* if Python.h has been included before ostraka/dlpack.hpp; write os::from_dlpack<double, I/X>(mesh, I = 8, managed)
// error: not_a_dlpack_tensor<
#include <ostraka/dlpack/from_dlpack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, float* p) { return os::from_dlpack<float, I / X>(mesh, I = 8, p); }
#else
auto f(os::mesh<X_mesh> const& mesh, os::dlpack::DLManagedTensor* p) {
  return os::from_dlpack<float, I / X>(mesh, I = 8, p);
}
#endif
