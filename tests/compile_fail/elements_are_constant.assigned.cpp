// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what can only be read is assigned to what can be written
// error: tensor: a tensor of constant elements, such as those of a constant view, is read-only
// error: elements_are_constant<const float>
#include <ostraka/creation/copy.hpp>
#include <ostraka/elements/map_into.hpp>
#include <ostraka/moves/reshard_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float const, I / X> const& a, os::tensor<float, I / X>& b) { b = a; }
#else
void f(os::tensor<float const, I / X> const& a, os::tensor<float, I / X>& b) { b = os::copy(a); }
#endif
