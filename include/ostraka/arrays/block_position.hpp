// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::at(I = begin, J = 0)`: says where a program's block begins, if the program divides an axis by a rule
/// of its own.

#include <ostraka/types/axes/sizes.hpp>

namespace ostraka {

/// The global indices of the first element of an array.
template <class... Is>
struct block_position {
  sizes<Is...> begin;
};

/// The array begins at these global indices; an axis that is left out begins at 0.
template <class... Is>
[[nodiscard]] constexpr auto at(named_extent<Is>... begins) {
  return block_position<Is...>{sizes<Is...>(begins...)};
}

namespace detail {

template <class T>
inline constexpr bool is_position = false;
template <class... Is>
inline constexpr bool is_position<block_position<Is...>> = true;

}  // namespace detail

}  // namespace ostraka
