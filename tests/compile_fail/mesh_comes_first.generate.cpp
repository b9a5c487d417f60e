// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is generated without a mesh
// error: tensor: the mesh comes first, and after it the extents; write os::zeros<float, I/X>(mesh, I = 8)
// error: mesh_comes_first<ostraka::named_extent<I_axis>
#include <ostraka/creation/generate.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct position {
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i) const { return static_cast<float>(i); }
};

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const&) { return os::generate<float, I / X>(I = 1024, position()); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::generate<float, I / X>(mesh, I = 1024, position()); }
#endif
