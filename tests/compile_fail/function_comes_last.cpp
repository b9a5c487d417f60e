// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of os::generate stands before the extents
// error: generate: the function comes last, after the extents, and is called with the indices of an element; write os::generate<float, I/X>(mesh, I = 8, f)
// error: function_comes_last<ostraka::named_extent<I_axis>
#include <ostraka/creation/generate.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

struct twice {
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i) const { return 2.f * static_cast<float>(i); }
};

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::generate<float, I / X>(mesh, twice(), I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::generate<float, I / X>(mesh, I = 8, twice()); }
#endif
