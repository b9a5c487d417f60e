// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::iota is asked for a tensor of two axes
// error: iota, random_permutation: numbers are counted along one axis; name one, and combine it with tensors of more axes in os::map or os::broadcast
// error: iota_has_one_axis<sharding<I_axis, J_axis>>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) { return os::iota<int, I, J>(mesh, I = 3, J = 4); }
#else
auto f(os::mesh<> const& mesh) { return os::iota<int, I>(mesh, I = 3); }
#endif
