// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::copy(A)`: a tensor of A's type and values in memory of its own. `auto B = A;` is another handle of the
/// same block.

#include <cstdint>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/vocabulary.hpp>

namespace ostraka {

namespace operation {

struct copy : detail::moves_nothing {
  static constexpr char const* name = "copy";
  template <class A>
  using verdict = reason::ok;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    detail::common_mesh(name, a);
    detail::profiled_block<A> const region_of_run(name, a, "reads and writes", 2);
    auto t = detail::uninitialised_like(a);
    engine::copy_block(detail::execution_space_of<A>(), t.local().data(), detail::elements_of(a),
                       static_cast<std::int64_t>(a.local().size()));
    return t;
  }
};

}  // namespace operation

/// A deep copy. Moves nothing between devices; parts of a partial tensor stay parts. To copy into an existing tensor,
/// call os::reshard_into(B, A).
/// @throws ostraka::error if A is an empty handle
template <TensorOrVariable A>
[[nodiscard]] constexpr auto copy(A const& a) {
  return detail::operate(operation::copy{}, a);
}

}  // namespace ostraka
