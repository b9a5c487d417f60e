// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: logits that every device has whole are named as divided
// error: operation: the axis is named the way the tensor divides it
// error: axis_sharding_mismatch<
#include <ostraka/operations/normalisation/cross_entropy.hpp>

#include <cstdint>

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);
OSTRAKA_MESH_AXIS(X);
using logits = os::tensor<double, B, V>;
using labels = os::tensor<std::int64_t, B>;

#ifdef SHOULD_FAIL
auto loss(logits const& a, labels const& l) { return os::cross_entropy<V/X>(a, l); }
#else
auto loss(logits const& a, labels const& l) { return os::cross_entropy<V>(a, l); }
#endif
