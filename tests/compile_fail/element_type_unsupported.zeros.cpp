// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made with elements of another type
// error: tensor: elements are float, double, Kokkos::complex of both, os::float16, os::bfloat16, bool, or std::int8_t to std::int64_t;
// error: element_type_unsupported<unsigned int>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<unsigned, I / X>(mesh, I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<int, I / X>(mesh, I = 8); }
#endif
