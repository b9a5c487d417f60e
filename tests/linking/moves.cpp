// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A header-only program that moves, sums and exchanges, and multiplies nothing: at once and begun, with plans made at
/// compile time and at run time, of tensors and in a body. moves_multiply_nothing.cmake reads its object file.

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using grid = os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>;

void move(os::tensor<double, I/X, J/Y> const& a, grid const& u) {
  static_cast<void>(os::reshard<I/Y, J/X>(a));
  static_cast<void>(os::reshard<I, J/X>(a, os::for_these_sizes));
  static_cast<void>(os::start_reshard<I, J>(a).wait());
  static_cast<void>(os::all_gather<X>(a));
  static_cast<void>(os::sum<I/X>(a));
  static_cast<void>(os::shard_map<I/X, J/Y>(
      [](auto const& block) {
        auto const sums = os::psum<X, Y>(os::sum_over_points([](double v) { return v; }, block));
        auto const other = os::shift<X>(block, +1);
        return os::map([s = os::value(sums)](double v) { return v - s; }, other);
      },
      a));
  os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(u, os::faces);
}
