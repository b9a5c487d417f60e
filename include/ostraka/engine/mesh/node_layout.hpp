// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The levels of a new mesh: the number of devices of each node, the block of the mesh that they form, and, if
/// the program sets the block, the rank of each device.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A program's request for its nodes: `each` devices per node, the block `within` per node, or none, so that the
/// carrier's answer counts. A request carries the functions that grant it, which no other program compiles.
struct node_request {
  int each = 0;                 ///< devices of a node, if its block is not given
  dynamic_array<int> within{};  ///< devices of a node along each mesh axis
  dynamic_array<int> (*block)(char const* operation, node_request const&, dynamic_array<int> const& sizes,
                              std::string const& mesh) = nullptr;
  communicator (*order)(communicator const& world, dynamic_array<int> const& sizes,
                        dynamic_array<int> const& within) = nullptr;

  [[nodiscard]] bool is_set() const { return block != nullptr; }
};

/// Returns the block of the mesh that `each` consecutive devices form; empty if they form none.
[[gnu::cold]] inline dynamic_array<int> block_of_consecutive(dynamic_array<int> const& sizes, int each) {
  dynamic_array<int> within(sizes.size(), 1);
  for (std::size_t a = sizes.size(); a-- > 0 && each > 1;) {
    int const larger = std::max(each, sizes[a]), smaller = std::min(each, sizes[a]);
    if (smaller < 1 || larger % smaller != 0) return {};
    within[a] = smaller;
    each /= smaller;
  }
  return each == 1 ? within : dynamic_array<int>();
}

/// Returns the block for a mesh with at most one device per node, or with unknown nodes.
inline dynamic_array<int> without_nodes(dynamic_array<int> const& sizes) {
  return dynamic_array<int>(sizes.size(), 1);
}

/// Returns the number of devices of a node in the environment, OSTRAKA_DEVICES_PER_NODE, which overrides the carrier's
/// answer; 0: not set.
[[gnu::cold]] inline int devices_per_node_setting() {
  char const* const setting = std::getenv("OSTRAKA_DEVICES_PER_NODE");
  return setting != nullptr ? std::max(0, std::atoi(setting)) : 0;
}

/// Returns the block that a program requests. @throws ostraka::error if nodes cannot hold such blocks of the mesh
[[gnu::cold]] inline dynamic_array<int> requested_block(char const* operation, node_request const& request,
                                                        dynamic_array<int> const& sizes, std::string const& mesh) {
  dynamic_array<int> const within = request.within.empty() ? block_of_consecutive(sizes, request.each) : request.within;
  bool whole = !within.empty();
  for (std::size_t a = 0; a < within.size(); ++a) whole = whole && within[a] > 0 && sizes[a] % within[a] == 0;
  if (whole) return within;
  std::string given;
  if (request.within.empty()) append_text(given, request.each);
  for (int n : request.within) append_text(given, given.empty() ? "" : " × ", n);
  throw_error(operation, ": every node holds a block of the mesh, as large as those of the others, but nodes of ",
              given, " devices do not divide ", mesh,
              " so; give a number of devices, or sizes within a node, that divide the sizes of the mesh axes");
}

/// A rank's machine: its first rank and its number of ranks, within this group.
struct machine_of_rank {
  std::int64_t first = 0;
  std::int64_t ranks = 1;
  bool in_a_row = true;
};

/// The machine of this rank, as tests set it; negative: ask the carrier.
[[gnu::visibility("default")]] inline int emulated_machine = -1;

/// Finds the ranks that share memory with this one. Collective.
[[gnu::cold]] inline machine_of_rank find_machine(carrier::group const& world) {
  carrier::group const machine(emulated_machine >= 0 ? world.split(emulated_machine, 0) : world.split_by_machine());
  std::int64_t ends[2] = {world.rank(), -world.rank()};
  machine.all_reduce(ends, 2, reduction::max);
  machine_of_rank m;
  m.first = -ends[1];
  m.ranks = machine.size();
  m.in_a_row = ends[0] - m.first + 1 == m.ranks;
  return m;
}

/// Returns the block of the mesh that each node holds, with devices in the order of ranks: one device, unless all nodes
/// hold the same number of consecutive devices, and these form a block of the mesh. Collective; the same on all ranks.
[[gnu::cold]] inline dynamic_array<int> found_block(communicator const& world, dynamic_array<int> const& sizes) {
  std::int64_t each = devices_per_node_setting();
  if (each == 0) {
    machine_of_rank const m = find_machine(*world.carried());
    bool const whole = m.in_a_row && m.first % m.ranks == 0;
    std::int64_t extremes[2] = {whole ? m.ranks : 0, whole ? -m.ranks : 0};
    world.carried()->all_reduce(extremes, 2, reduction::max);
    each = extremes[0] == -extremes[1] ? extremes[0] : 0;
  }
  dynamic_array<int> const within = block_of_consecutive(sizes, static_cast<int>(each));
  return each > 1 && !within.empty() ? within : without_nodes(sizes);
}

/// Returns the same ranks in the order of their devices, if nodes hold blocks `within`: ranks fill node after node,
/// machine by machine, in their order on each machine. Collective. @throws ostraka::error, on all ranks alike, if a
/// node would have ranks of several machines
[[gnu::cold]] inline communicator in_order_of_nodes(communicator const& world, dynamic_array<int> const& sizes,
                                                    dynamic_array<int> const& within) {
  node_grid grid;
  for (std::size_t a = 0; a < sizes.size(); ++a) grid.add(sizes[a], within[a]);
  machine_of_rank const mine = find_machine(*world.carried());
  dynamic_array<std::int64_t> machine(static_cast<std::size_t>(world.size()));
  world.carried()->all_gather(&mine.first, machine.data(), 1);
  int before = 0;  // ranks of earlier machines, or of this one
  for (int r = 0; r < world.size(); ++r) {
    std::int64_t const m = machine[static_cast<std::size_t>(r)];
    before += m < mine.first || (m == mine.first && r < world.rank()) ? 1 : 0;
  }
  std::int64_t wrong = mine.ranks % grid.each() != 0 && grid.nodes() > 1 ? mine.ranks : 0;
  world.carried()->all_reduce(&wrong, 1, reduction::max);
  if (wrong != 0)
    throw_error("make_mesh: a node's devices run on one machine, but a machine has ", wrong, " ranks, and nodes have ",
                grid.each(),
                " devices; start a multiple of that on every machine, or give nodes that divide their ranks");
  int const device = grid.device(before / grid.each(), before % grid.each());
  std::int32_t moved = device != world.rank() ? 1 : 0;
  world.carried()->all_reduce(&moved, 1, reduction::max);
  return moved != 0 ? world.split(0, device) : world;
}

/// Returns a program's request: `each` devices, or a block if that is 0. A mesh without axes has no block, so there is
/// no request.
[[nodiscard]] inline node_request request_nodes(int each, dynamic_array<int> within) {
  if (each == 0 && within.empty()) return {};
  return {each, std::move(within), &requested_block, &in_order_of_nodes};
}

}  // namespace ostraka::engine
