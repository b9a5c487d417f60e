// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of numbers that are not whole is used as indices
// error: operation: indices are whole numbers; make the index tensor of std::int32_t or std::int64_t, or os::cast it
// error: index_is_not_an_integer<float,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, V, D> const& a, os::tensor<float, I> const& index) { return os::take<V>(a, index); }
#else
auto f(os::tensor<float, V, D> const& a, os::tensor<int, I> const& index) { return os::take<V>(a, index); }
#endif
