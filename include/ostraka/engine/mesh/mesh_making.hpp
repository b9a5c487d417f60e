// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Creates a mesh and its groups: the bodies of device_mesh's rare members. A program that links
/// ostraka::compiled has them in the library, and does not include this file.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/machine/launcher.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/mesh/node_layout.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

template <class>
[[gnu::cold]] void device_mesh::make(node_request const& nodes) {
  shared_->name = describe();
  if (world_.size() > 1 && !world_.is_dry() && !mpi_is_thread_multiple()) shared_->use = &use_of_mpi;
  exclusive_use const exclusive = use("make_mesh");
  require_agreement(nodes);
  require_axes();
  require_as_many_devices();
  lay_out(nodes);
  coordinates_.resize(sizes_.size());
  int rest = device();
  for (std::size_t a = sizes_.size(); a-- > 0; rest /= sizes_[a]) coordinates_[a] = rest % sizes_[a];
  prepare_groups();
}

template <class>
[[gnu::cold]] device_mesh device_mesh::absent(dynamic_array<std::string> names, dynamic_array<int> sizes) {
  device_mesh mesh;
  mesh.names_ = std::move(names);
  mesh.sizes_ = std::move(sizes);
  mesh.within_ = without_nodes(mesh.sizes_);
  mesh.absent_ = true;
  mesh.shared_ = shared_value<shared_parts>::make();
  mesh.shared_->name = mesh.describe();
  mesh.require_axes();
  mesh.coordinates_.assign(mesh.sizes_.size(), -1);
  return mesh;
}

template <class>
[[gnu::cold]] device_mesh device_mesh::dry(dynamic_array<std::string> names, dynamic_array<int> sizes,
                                           std::int64_t device, node_request const& nodes) {
  device_mesh const asked = absent(names, sizes);  // throws for axes that no mesh can have
  if (asked.devices() == std::numeric_limits<int>::max())
    throw_error("dry_mesh: a mesh has at most 2147483646 devices, but this one has ", asked.describe(),
                "; give smaller sizes");
  if (device < 0 || device >= asked.devices())
    throw_error("dry_mesh: this process plays one of the mesh's devices, 0 to ", asked.devices() - 1,
                ", but as device ", device, "; give the number of one of them");
  return {communicator::dry(asked.devices(), static_cast<int>(device)), std::move(names), std::move(sizes), nodes};
}

/// Sets the block of the mesh that each node holds. A dry mesh has one node, unless the program or the environment says
/// otherwise.
[[gnu::cold]] inline void device_mesh::lay_out(node_request const& nodes) {
  bool const asks = world_.size() > 1 && (!is_dry() || devices_per_node_setting() > 0);
  within_ = nodes.is_set() ? nodes.block(is_dry() ? "dry_mesh" : "make_mesh", nodes, sizes_, describe())
            : asks         ? found_block(world_, sizes_)
                           : sizes_;
  if (nodes.is_set() && !is_dry() && world_.size() > 1) world_ = nodes.order(world_, sizes_, within_);
}

template <class>
[[gnu::cold]] std::string device_mesh::describe() const {
  std::string text;
  for (std::size_t a = 0; a < sizes_.size(); ++a)
    append_text(text, a ? " · " : "", a < names_.size() ? names_[a] : std::string("?"), "=", sizes_[a]);
  return text.empty() ? "no axes" : text;
}

template <class>
[[gnu::cold]] std::int64_t device_mesh::fingerprint() const {
  std::uint64_t n = 14695981039346656037u;  // FNV-1a
  for (char c : describe()) n = (n ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<std::int64_t>(n);
}

/// Compares fingerprints, since devices with different meshes would wait for each other in operations.
[[gnu::cold]] inline void device_mesh::require_agreement(node_request const& nodes) const {
  std::uint64_t combined = static_cast<std::uint64_t>(fingerprint());
  auto const add = [&](int n) { combined = (combined ^ static_cast<std::uint64_t>(n)) * 1099511628211u; };
  add(nodes.each);
  add(devices_per_node_setting());
  for (int n : nodes.within) add(n);
  std::int64_t const mine = static_cast<std::int64_t>(combined);
  std::int64_t extremes[2] = {mine, ~mine};
  world_.find_largest(extremes, 2);
  if (extremes[0] == ~extremes[1]) return;
  std::int64_t of_first = world_.rank() == 0 ? mine : std::numeric_limits<std::int64_t>::min();
  world_.find_largest(&of_first, 1);
  std::int64_t others = mine != of_first ? world_.size() - world_.rank() : 0;  // largest on the first one that differs
  world_.find_largest(&others, 1);
  throw_error("make_mesh: every device makes the same mesh, but device ", world_.size() - others,
              " names other axes, sizes or nodes than device 0; compute them from values that all devices share");
}

[[gnu::cold]] inline void device_mesh::require_axes() const {
  if (names_.size() != sizes_.size())
    throw_error("make_mesh: every mesh axis has a name and a size; give as many names as sizes");
  if (axes() > max_axes)
    throw_error("make_mesh: a mesh has at most ", max_axes, " axes, this one has ", axes(), "; join axes");
  for (int a = 0; a < axes(); ++a) {
    if (size(a) < 1)
      throw_error("make_mesh: a mesh axis has at least one device, but ", name(a), "=", size(a), "; use ", name(a),
                  "=1 for an axis that divides nothing");
    if (find(name(a)) != a)
      throw_error("make_mesh: every mesh axis has its own name, but ", name(a), " is the name of two; rename one");
  }
}

[[gnu::cold]] inline void device_mesh::require_as_many_devices() const {
  std::int64_t product = 1;
  for (int a = 0; a < axes(); ++a)
    product = product > world_.size()
                  ? product
                  : product * size(a);  // cannot overflow: one step past any communicator's size at most
  if (product != world_.size()) {
    std::int64_t needed = 1;
    for (int a = 0; a < axes(); ++a) needed = needed > (std::int64_t(1) << 32) ? needed : needed * size(a);
    if (std::string const wrong = launcher_mismatch(); !wrong.empty() && world_.size() == 1)
      throw_error("make_mesh: ", describe(), " needs ", needed, " devices, the communicator has 1: ", wrong);
    throw_error("make_mesh: ", describe(), " needs ", needed, needed == 1 ? " device" : " devices",
                ", the communicator has ", world_.size(), "; choose sizes whose product is ", world_.size(),
                ", or start as many processes as the mesh has devices");
  }
}

/// Returns the numbers of the devices of a group, in the order of the group.
[[gnu::cold]] inline dynamic_array<int> device_mesh::members(std::uint32_t set) const {
  dynamic_array<int> numbers{0};
  for (int a = 0; a < axes(); ++a) {
    bool const in_set = (set >> a & 1u) != 0;
    dynamic_array<int> longer;
    for (int n : numbers)
      for (int c = in_set ? 0 : coordinate(a); c < (in_set ? size(a) : coordinate(a) + 1); ++c)
        longer.push_back(n * size(a) + c);
    numbers = std::move(longer);
  }
  return numbers;
}

/// Returns the layout of a group's devices on nodes.
inline node_grid device_mesh::grid_of(std::uint32_t set) const {
  node_grid grid;
  for (int a = 0; a < axes(); ++a)
    if ((set >> a & 1u) != 0) grid.add(size(a), within_node(a));
  return grid;
}

template <class>
[[gnu::cold]] void device_mesh::make_group(std::uint32_t set) const {
  communicator& one = shared_->groups[set];
  one = world_.part(members(set));
  one.stand_for(shared_->axes, set);
  one.set_nodes(grid_of(set));
}

/// If the group over these axes has two levels, creates their groups, or tells the observer to expect them.
[[gnu::cold]] inline void device_mesh::prepare_levels(std::uint32_t set) const {
  node_grid const grid = grid_of(set);
  if (!grid.has_levels()) return;
  if (world_.compares_calls()) return static_cast<void>(group(set).levels());
  dynamic_array<int> const all = members(set);
  int const here = static_cast<int>(all.find(device()) - all.begin());
  dynamic_array<int> within, between;
  for (int p = 0; p < grid.each(); ++p)
    within.push_back(all[static_cast<std::size_t>(grid.device(grid.node_of(here), p))]);
  for (int n = 0; n < grid.nodes(); ++n)
    between.push_back(all[static_cast<std::size_t>(grid.device(n, grid.place_of(here)))]);
  world_.expect_part(within);
  world_.expect_part(between);
}

/// Creates all groups now if devices compare their calls: a device that creates a group later could not tell the others
/// its call first.
[[gnu::cold]] inline void device_mesh::prepare_groups() {
  for (int a = 0; a < axes(); ++a) divided_ |= size(a) > 1 ? 1u << a : 0u;
  shared_->groups.resize(std::size_t(1) << axes());
  shared_->of_program.resize(shared_->groups.size());
  if (world_.size() > 1) {
    shared_->axes = shared_value<mesh_axes const>::make(
        mesh_axes{names_, sizes_, coordinates_, device(), is_dry(), within_});
    world_.stand_for(shared_->axes, divided_);
    world_.set_nodes(grid_of(divided_));
  }
  if (is_dry()) return;
  for (std::uint32_t set = 1; set <= divided_; ++set)
    if ((set & ~divided_) == 0) {
      if (set < divided_) world_.compares_calls() ? static_cast<void>(group(set)) : world_.expect_part(members(set));
      prepare_levels(set);
    }
}

}  // namespace ostraka::engine
