// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial tensor is added to one that is divided over the same mesh axis
// error: add: a partial tensor is added only to one that is partial over the same mesh axes, else the other summand would be counted once a device;
// error: partial_plus_replicated<X_mesh>
#include <ostraka/add.hpp>
#include <ostraka/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I, os::partial(X)> const& b) { return os::add(a, b); }
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I, os::partial(X)> const& b) { return os::add(a, os::reshard<I / X>(b)); }
#endif
