// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::copy(A)`: a tensor of A's type and values in memory of its own, where `auto B = A;` is another handle
/// of the same block.

#include <ostraka/blocks/fill.hpp>

namespace ostraka {

/// A deep copy. Nothing is moved between devices; parts of a partial tensor stay parts. os::reshard_into(B, A) copies
/// into a tensor that is there.
/// @throws ostraka::error if A is an empty handle
template <Tensor A>
[[nodiscard]] auto copy(A const& a) {
  detail::common_mesh("copy", a);
  detail::profiled_block<A> const region_of_run("copy", a, "reads and writes", 2);
  auto t = detail::uninitialised_like(a);
  engine::copy_block(detail::execution_space_of<A>(), t.local().data(), detail::elements_of(a),
                     static_cast<std::int64_t>(a.local().size()));
  return t;
}

}  // namespace ostraka
