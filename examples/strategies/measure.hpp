// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The bytes that a run sends, and the memory that it needs.

#include <cstdint>
#include <string>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/tree.hpp>

#include "strategy.hpp"
#include "support/byte_counter.hpp"

namespace strategies {

/// The bytes of a tree on this device.
template <class Tree>
std::int64_t bytes_of(Tree const& tree) {
  std::int64_t bytes = 0;
  os::for_each_leaf(
      [&](std::string const&, auto const& leaf) {
        using value = typename std::remove_cvref_t<decltype(leaf)>::value_type;
        bytes += static_cast<std::int64_t>(leaf.local().size() * sizeof(value));
      },
      tree);
  return bytes;
}

/// The bytes that `f` moves and needs on this device.
struct taken {
  std::int64_t moved, peak;
};

/// Counts bytes below MPI, as they are sent; on a dry mesh, which sends nothing, the library counts them.
template <class F>
taken taken_by(mesh_type const& m, F const& f) {
  std::int64_t const before = os::testing::traffic_so_far().bytes;
  auto const cost = os::cost_of(m, f);
  std::int64_t const sent = os::testing::traffic_so_far().bytes - before;
  return {os::is_dry(m) ? cost.bytes : sent, cost.peak_memory};
}

}  // namespace strategies
