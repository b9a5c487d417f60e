// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a window is taken of an axis whose extent is part of its type
// error: operation: it changes the extent of the axis
// error: static_extent_would_change<D_axis, 
#include <ostraka/moves/rename.hpp>
#include <ostraka/operations/shapes/window.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D, 128);
OSTRAKA_AXIS(K);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, D> const& a) { return os::window<D>(a, 0, 64); }
#else
auto f(os::tensor<float, D> const& a) { return os::window<K>(os::rename<D, K>(a), 0, 64); }
#endif
