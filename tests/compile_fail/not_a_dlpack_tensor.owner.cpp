// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the owner of a DLPack tensor is given, but not moved
// error: from_dlpack, copy_from_dlpack: a DLPack tensor comes last, after the extents: a DLManagedTensorVersioned*, a DLManagedTensor*, the result of os::to_dlpack, moved,
// error: not_a_dlpack_tensor<
#include <utility>

#include <ostraka/dlpack/from_dlpack.hpp>
#include <ostraka/dlpack/to_dlpack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, os::dlpack_pointer<> p) { return os::from_dlpack<float, I / X>(mesh, I = 8, p); }
#else
auto f(os::mesh<X_mesh> const& mesh, os::dlpack_pointer<> p) {
  return os::from_dlpack<float, I / X>(mesh, I = 8, std::move(p));
}
#endif
