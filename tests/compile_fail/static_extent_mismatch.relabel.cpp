// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one label stands for two axes whose static extents differ
// error: rename, relabel: axes that stand for each other have the same extent, and their static extents differ; choose axes of one extent or without a static one
// error: static_extent_mismatch<query_axis, key_axis>
#include <ostraka/algebra/relabel.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(query, 512);
OSTRAKA_AXIS(key, 1024);
OSTRAKA_AXIS(other_key, 512);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, query, key> const& a) { return os::relabel<I, I>(a); }
#else
auto f(os::tensor<float, query, other_key> const& a) { return os::relabel<I, I>(a); }
#endif
