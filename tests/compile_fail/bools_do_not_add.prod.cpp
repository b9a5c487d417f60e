// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools are multiplied
// error: reduction: bools are neither summed nor multiplied;
// error: bools_do_not_add<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X> const& a) { return os::prod<>(a); }
#else
auto f(os::tensor<bool, I/X> const& a) { return os::bit_and<>(a); }
#endif
