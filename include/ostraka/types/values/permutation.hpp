// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The pairs of a permutation, from device to device: `os::permutation({{0, 1}, {1, 2}})` sends the block of
/// device 0 to device 1, and the block of device 1 to device 2.

namespace ostraka {

/// One message of a permutation. Devices are numbered along the mesh axes of the collective.
struct hop {
  int from;
  int to;
};

/// The hops of a permutation, as a constant: os::ppermute<X, os::permutation({{0, 1}, {1, 0}})>. No device sends twice
/// or receives twice.
template <int Count>
struct permutation {
  hop hops[Count]{};
  static constexpr int count = Count;

  consteval permutation(hop const (&given)[Count]) {
    for (int i = 0; i < Count; ++i) hops[i] = given[i];
  }
};

/// True if a type is an os::permutation.
template <class T>
inline constexpr bool is_permutation = false;
template <int Count>
inline constexpr bool is_permutation<permutation<Count>> = true;

}  // namespace ostraka
