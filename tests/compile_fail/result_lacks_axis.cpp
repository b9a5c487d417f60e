// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis of the rows is missing in the result of an operation by indices
// error: operation: nothing is summed over an axis that only the rows have; name it in the result, or os::sum over it
// error: result_lacks_axis<D_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, V, D> const& a, os::tensor<int, I> const& index) { return os::take<V, I>(a, index); }
#else
auto f(os::tensor<float, V, D> const& a, os::tensor<int, I> const& index) { return os::take<V, I, D>(a, index); }
#endif
