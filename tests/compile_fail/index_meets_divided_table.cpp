// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: index and table are divided over the same mesh axis, and the result of os::take is not named
// error: operation: index and table are divided over the same mesh axis, so indices move, and nothing moves unless the result is named; name its axes, as in os::take<V, I, D>(table, index)
// error: index_meets_divided_table<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, V, D/X> const& a, os::tensor<int, I/X> const& index) { return os::take<V>(a, index); }
#else
auto f(os::tensor<float, V, D/X> const& a, os::tensor<int, I/X> const& index) { return os::take<V, I, D/X>(a, index); }
#endif
