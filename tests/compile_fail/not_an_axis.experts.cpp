// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: experts are named by a mesh axis alone
// error: operation: it takes an axis the way the tensor divides it
// error: not_an_axis<
// error: operation::route_rows
#include <ostraka/experts.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(E);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<int, T, K, os::varying(X)> const& experts) {
#ifdef SHOULD_FAIL
  return os::route_rows<X>(experts, E = 64);
#else
  return os::route_rows<E/X>(experts, E = 64);
#endif
}
