// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is compared with a device's number
// error: varying_int: os::axis_index returns a whole number that differs from device to device, and elements meet numbers of their own kind; write static_cast<float>(i.value()) where the block varies along the same mesh axes, and os::pvary<X>(a) first where it does not
// error: varying_number_meets_tensor<varying_int<X_mesh>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
bool g(os::varying_int<X_mesh> i, os::tensor<std::int64_t, I, os::varying(X)> const& b) { return b < i; }
#else
auto g(os::varying_int<X_mesh> i, os::tensor<std::int64_t, I, os::varying(X)> const& b) { return b < i.value(); }
#endif
