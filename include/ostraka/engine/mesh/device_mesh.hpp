// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Devices in a grid with named axes, and a communicator for every set of axes that is used: mesh {X: 2, Y: 4}
/// numbers device (x, y) as 4 x + y, and the group over {X, Y} has the members of a collective over X and Y together.
/// Each node holds a block of the grid, so a mesh axis may run within nodes, between nodes, or both; if both, the part
/// between nodes is major. The memory that a mesh takes does not grow with the number of devices.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/machine/copy_of_library.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/mesh/node_layout.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

/// The processes of the larger of two meshes (of the first, if both are equally large), numbered like its devices.
struct mesh_pair {
  bool here = false;            ///< true if this process is in the larger mesh
  bool first_is_all = true;     ///< true if the first mesh has all processes
  dynamic_array<int> device[2];   ///< device numbers on either mesh, by process, −1: none; empty if not here
  dynamic_array<int> process[2];  ///< process numbers on either mesh, by device
};

/// A grid of devices. Copies share the communicators. A process outside the mesh may hold an absent mesh, which knows
/// its axes and sizes, has no block and communicates with no device, so that all processes can run the same program.
class device_mesh {
 public:
  static constexpr int max_axes = node_grid::max_axes;

  /// Collective over `world`. Device number = rank, unless the request sets the block of the mesh that each node holds.
  /// Throws ostraka::error, on all devices alike, unless all devices pass the same axes, every axis has at least one
  /// device, and the product of the sizes is world.size(); or if nodes cannot hold such blocks.
  [[gnu::cold]] device_mesh(communicator const& world, dynamic_array<std::string> names, dynamic_array<int> sizes,
                            node_request const& nodes = {})
      : world_(world), names_(std::move(names)), sizes_(std::move(sizes)), shared_(shared_value<shared_parts>::make()) {
    make(nodes);
  }

  /// Returns the mesh for a process outside it. Not collective; throws ostraka::error for axes that no mesh can have.
  template <class = void>
  [[gnu::cold]] static device_mesh absent(dynamic_array<std::string> names, dynamic_array<int> sizes);

  /// Returns the mesh in which this process is the device of this number, and no other device exists: operations send
  /// nothing, and count what they would send. Throws ostraka::error for axes that no mesh can have, and for a device
  /// number outside the mesh.
  template <class = void>
  [[gnu::cold]] static device_mesh dry(dynamic_array<std::string> names, dynamic_array<int> sizes, std::int64_t device,
                                       node_request const& nodes = {});
  bool is_dry() const { return world_.is_dry(); }

  /// Returns a number that no other mesh of this process has had, as a key for caches; copies share it.
  std::uint64_t serial() const { return shared_->serial; }

  /// True if this process is outside the mesh.
  bool absent() const { return absent_; }

  int axes() const { return static_cast<int>(sizes_.size()); }
  std::string const& name(int axis) const { return names_[static_cast<std::size_t>(axis)]; }
  int size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  /// Returns the number of consecutive devices along the axis that share a node.
  int within_node(int axis) const { return within_[static_cast<std::size_t>(axis)]; }
  /// Returns the number of devices on a node; 1 if nodes hold no block of the mesh.
  int devices_per_node() const;
  /// Returns this device's coordinate, -1 if absent.
  int coordinate(int axis) const { return coordinates_[static_cast<std::size_t>(axis)]; }

  /// Returns this device's number, -1 if absent; the first mesh axis is the major one.
  int device() const { return absent_ ? -1 : world_.rank(); }
  int devices() const;
  communicator const& world() const { return world_; }

  /// Returns the devices that differ from this one in these axes only (bit a stands for axis a), ordered by their
  /// coordinates, first axis major. Collective over them the first time, since most sets of axes are never used; sets
  /// that differ by axes of one device share a group.
  communicator const& group(std::uint32_t axes_bits) const {
    std::uint32_t const set = axes_bits & divided_;
    if (set == divided_) return world_;
    communicator& one = shared_->groups[set];
    if (set != 0 && one.size() == 1) make_group(set);
    return one;
  }

  /// Returns the traffic of this device in the collectives over exactly these mesh axes; zero for a set with an axis of
  /// one device, which shares the group of a smaller set.
  [[nodiscard]] traffic sent_over(std::uint32_t axes_bits) const {
    if (axes_bits == 0 || (axes_bits & ~divided_) != 0) return {};
    communicator const& one = axes_bits == divided_ ? world_ : shared_->groups[axes_bits];
    return one.size() > 1 ? one.sent() : traffic{};
  }

  /// Returns the same devices in the same order on a communicator of the program's own, which carries none of our
  /// messages. The first call creates it, collectively over these devices, after a call of `before_creation`.
  template <class F>
  communicator const& group_of_program(std::uint32_t axes_bits, F const& before_creation) const {
    communicator const& ours = group(axes_bits);
    communicator& theirs = shared_->of_program[axes_bits & divided_];
    if (theirs.size() < ours.size()) {
      before_creation(ours);
      theirs = ours.duplicate();
    }
    return theirs;
  }

  /// Reserves the mesh for this host thread during an operation. @throws ostraka::error if another thread uses it, or
  /// if another copy of the library made the mesh
  [[nodiscard]] exclusive_use use(char const* operation) const {
    if (!shared_->made_by.is_ours()) copy_of_library::refuse(operation, shared_->name);
    return {*shared_->use, operation, shared_->name};
  }

  /// The same without an error: `may` becomes false if another thread uses the mesh.
  [[nodiscard]] exclusive_use use(bool& may) const { return {*shared_->use, may}; }

  /// A cached relation of this mesh to another one; protected by `use`.
  struct cached_pair {
    std::weak_ptr<device_mesh const> other;
    shared_value<mesh_pair const> pair;
  };
  [[nodiscard]] dynamic_array<cached_pair>& cached_pairs() const { return shared_->pairs; }

  /// Returns "X=2 · Y=3".
  template <class = void>
  [[gnu::cold]] std::string describe() const;

  /// Returns a hash of the axes and sizes.
  template <class = void>
  [[gnu::cold]] std::int64_t fingerprint() const;

  /// Returns the number of the axis of this name, or -1.
  int find(std::string_view name) const {
    for (int a = 0; a < axes(); ++a)
      if (names_[static_cast<std::size_t>(a)] == name) return a;
    return -1;
  }

 private:
  device_mesh() = default;
  // The parts that all copies share.
  struct shared_parts {
    dynamic_array<communicator> groups;  // by bits of divided axes, if created so far: groups of several devices
    dynamic_array<communicator> of_program;  // for the same sets, if used
    dynamic_array<cached_pair> pairs;
    shared_value<mesh_axes const> axes;  // for listeners
    std::string name;
    std::uint64_t serial = ++made;
    [[gnu::visibility("default")]] inline static std::atomic<std::uint64_t> made{0};
    copy_of_library made_by{};
    used_by_one of_its_own{};
    used_by_one* use = &of_its_own;
  };

  // Templates so that ostraka::compiled can hold them and their callees; mesh_making.hpp has the bodies. Compilers take
  // `cold` of a template from its declaration.
  template <class = void>
  [[gnu::cold]] void make(node_request const& nodes);
  template <class = void>
  [[gnu::cold]] void make_group(std::uint32_t set) const;

  void require_agreement(node_request const& nodes) const;
  void require_axes() const;
  void require_as_many_devices() const;
  void lay_out(node_request const& nodes);
  void prepare_groups();
  void prepare_levels(std::uint32_t set) const;
  dynamic_array<int> members(std::uint32_t set) const;
  node_grid grid_of(std::uint32_t set) const;

  communicator world_;
  dynamic_array<std::string> names_;
  dynamic_array<int> sizes_;
  dynamic_array<int> within_;
  dynamic_array<int> coordinates_;
  std::uint32_t divided_ = 0;  // the axes of more than one device; none if absent
  shared_value<shared_parts> shared_;
  bool absent_ = false;
};

inline int device_mesh::devices_per_node() const {
  int n = 1;
  for (int within : within_) n *= within;
  return n;
}

inline int device_mesh::devices() const {
  std::int64_t product = 1;
  for (int n : sizes_)
    product =
        std::min<std::int64_t>(product * n, std::numeric_limits<int>::max());  // an absent mesh may claim anything
  return static_cast<int>(product);
}

/// @throws ostraka::error if the mesh is dry, since `operation` needs values
inline void require_devices(device_mesh const& mesh, std::string_view operation) {
  if (mesh.is_dry())
    throw_error(operation, ": a dry mesh has no devices, so that its tensors have no values, but ", mesh.describe(),
                " is one; call it on a mesh of os::make_mesh alone");
}

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/mesh/mesh_making.hpp>
#endif
