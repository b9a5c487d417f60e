// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loops of which compilers are told what they cannot find out.

#include <cstdint>

namespace ostraka::engine::detail {

/// f(i) for all i < n, none of which reads what another one writes.
template <class F>
void for_each_independent(std::int64_t n, F const& f) {
#if defined(__clang__)
#  pragma clang diagnostic push
#  pragma clang diagnostic ignored "-Wpass-failed"  // not every f has a vector form
#  pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#  pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < n; ++i) f(i);
#if defined(__clang__)
#  pragma clang diagnostic pop
#endif
}

}  // namespace ostraka::engine::detail
