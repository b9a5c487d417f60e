// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis with a static extent is renamed to one with another
// error: rename, relabel: axes that stand for each other have the same extent, and their static extents differ; choose axes of one extent or without a static one
// error: static_extent_mismatch<query_axis, key_axis>
#include <ostraka/moves/rename.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(query, 512);
OSTRAKA_AXIS(key, 1024);
OSTRAKA_AXIS(other_key, 512);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, query> const& a) { return os::rename<query, key>(a); }
#else
auto f(os::tensor<float, query> const& a) { return os::rename<query, other_key>(a); }
#endif
