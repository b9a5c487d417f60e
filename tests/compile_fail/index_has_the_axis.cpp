// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an index tensor has the axis that its numbers point into
// error: operation: an index tensor lacks the axis that its numbers point into; rename the axis of the index with os::rename
// error: index_has_the_axis<V_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, V, D> const& a, os::tensor<int, V> const& index) { return os::take<V>(a, index); }
#else
auto f(os::tensor<float, V, D> const& a, os::tensor<int, V> const& index) {
  return os::take<V>(a, os::rename<V, I>(index));
}
#endif
