// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools are added
// error: arithmetic: bools are not numbers; combine them with &&, || and !, choose by them with os::where, or convert them first, as in os::cast<float>(A)
// error: arithmetic_of_bools<operation::add>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X> const& a) { return os::add(a, a); }
#else
auto f(os::tensor<bool, I/X> const& a) { return os::maximum(a, a); }
#endif
