// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Who sends to whom: `os::permutation({{0, 1}, {1, 2}})` sends the block of device 0 to device 1, and that of
/// 1 to 2.

namespace ostraka {

/// From one device to another, by their numbers along the mesh axes of a collective.
struct hop {
  int from;
  int to;
};

/// Hops, as a constant: os::ppermute<X, os::permutation({{0, 1}, {1, 0}})>. No device sends twice, or is sent to twice.
template <int Count>
struct permutation {
  hop hops[Count];
  static constexpr int count = Count;

  consteval permutation(hop const (&given)[Count]) : hops{} {
    for (int i = 0; i < Count; ++i) hops[i] = given[i];
  }
};

template <class T>
inline constexpr bool is_permutation = false;
template <int Count>
inline constexpr bool is_permutation<permutation<Count>> = true;

}  // namespace ostraka
