// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Devices in a grid with named axes, and a communicator for every set of them that is used: mesh {X: 2, Y: 4}
/// numbers device (x, y) as 4 x + y, and the group over {X, Y} joins what a collective over X and Y together needs.
/// Nodes hold blocks of the grid, so that a mesh axis may be within nodes, between them, or both: then the part between
/// nodes is the major one. What a device keeps does not grow with their number.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/mesh/node_layout.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

/// The processes of the larger of two meshes (of the first, if they are as large), numbered as its devices.
struct mesh_pair {
  bool here = false;            ///< is this process one of them?
  bool first_is_all = true;     ///< is it the first mesh that has all of them?
  dynamic_array<int> device[2];   ///< on either mesh, by process, −1 for none; empty where not here
  dynamic_array<int> process[2];  ///< on either mesh, by device
};

/// A grid of devices. Copies share the communicators. On a process that is none of the devices it may stand as an
/// absent one, which knows its axes and sizes, holds no block and talks to nobody, so that all processes can run the
/// same program.
class device_mesh {
 public:
  static constexpr int max_axes = node_grid::max_axes;

  /// Collective over `world`. Device number = rank, unless the wish says which blocks of the mesh nodes hold. Throws
  /// ostraka::error, on all devices alike, unless every device gives the same axes, at least one device to each, and the
  /// sizes multiply to world.size(); or for nodes that cannot be.
  device_mesh(communicator const& world, std::vector<std::string> names, dynamic_array<int> sizes,
              node_wish const& nodes = {});

  /// The mesh as seen by a process that is none of its devices. Not collective; throws ostraka::error for axes that no
  /// mesh can have.
  static device_mesh absent(std::vector<std::string> names, dynamic_array<int> sizes);

  /// The mesh of which this process is the device of this number, and no other device exists: operations send nothing,
  /// and count what they would send. Throws ostraka::error for axes that no mesh can have, and a device that is not
  /// among them.
  static device_mesh dry(std::vector<std::string> names, dynamic_array<int> sizes, std::int64_t device,
                         node_wish const& nodes = {});
  bool is_dry() const { return world_.is_dry(); }

  /// A number that no other mesh of this process has had, for what is remembered of it: copies share it.
  std::uint64_t serial() const { return shared_->serial; }

  /// Is this process none of the devices?
  bool absent() const { return absent_; }

  int axes() const { return static_cast<int>(sizes_.size()); }
  std::string const& name(int axis) const { return names_[static_cast<std::size_t>(axis)]; }
  int size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  /// Devices in a row along the axis that are on one node, the same for all rows.
  int within_node(int axis) const { return within_[static_cast<std::size_t>(axis)]; }
  /// Of all axes together: 1 if nodes hold no block of the mesh.
  int devices_per_node() const;
  /// This device's coordinate, -1 where absent.
  int coordinate(int axis) const { return coordinates_[static_cast<std::size_t>(axis)]; }

  /// This device's number, -1 where absent; the first mesh axis is the major one.
  int device() const { return absent_ ? -1 : world_.rank(); }
  int devices() const;
  communicator const& world() const { return world_; }

  /// The devices that differ from this one in these axes only (bit a stands for axis a), ordered by their coordinates,
  /// first axis major. Collective over them the first time, since most sets of axes are never asked for; sets that
  /// differ by axes of one device share a group.
  communicator const& group(std::uint32_t axes_bits) const {
    std::uint32_t const set = axes_bits & divided_;
    if (set == divided_) return world_;
    communicator& one = shared_->groups[set];
    if (set != 0 && one.size() == 1) {
      one = world_.part(members(set));
      one.stand_for(shared_->axes, set);
      one.lies_on(grid_of(set));
    }
    return one;
  }

  /// What this device has sent in the collectives over these mesh axes together and no others; nothing over a set with
  /// an axis of one device, which shares the group of a smaller one.
  [[nodiscard]] traffic sent_over(std::uint32_t axes_bits) const {
    if (axes_bits == 0 || (axes_bits & ~divided_) != 0) return {};
    communicator const& one = axes_bits == divided_ ? world_ : shared_->groups[axes_bits];
    return one.size() > 1 ? one.sent() : traffic{};
  }

  /// The same devices in the same order on a communicator of the program's own, on which nothing of ours travels. Made,
  /// collectively over them, the first time, when `before_it_is_made` is called.
  template <class F>
  communicator const& group_of_program(std::uint32_t axes_bits, F const& before_it_is_made) const {
    communicator const& ours = group(axes_bits);
    communicator& theirs = shared_->of_program[axes_bits & divided_];
    if (theirs.size() < ours.size()) {
      before_it_is_made(ours);
      theirs = ours.duplicate();
    }
    return theirs;
  }

  /// For the length of an operation: this host thread uses the mesh. @throws ostraka::error if another does
  [[nodiscard]] exclusive_use use(std::string_view operation) const {
    return {*shared_->use, operation, shared_->name};
  }

  /// The same, unless another does: then `may` is false.
  [[nodiscard]] exclusive_use use(bool& may) const { return {*shared_->use, may}; }

  /// What has been found out about this mesh and others; used with the mesh.
  struct cached_pair {
    std::weak_ptr<device_mesh const> other;
    shared_value<mesh_pair const> pair;
  };
  [[nodiscard]] dynamic_array<cached_pair>& cached_pairs() const { return shared_->pairs; }

  /// How many devices differ from this one in these axes only, itself among them.
  int group_size(std::uint32_t axes_bits) const {
    int n = 1;
    for (int a = 0; a < axes(); ++a) n *= (axes_bits & divided_) >> a & 1u ? size(a) : 1;
    return n;
  }

  /// "X=2 · Y=3"
  std::string describe() const;

  /// A number that differs, most likely, where axes or sizes do.
  std::int64_t fingerprint() const;

  /// The number of the axis of this name, or -1.
  int find(std::string_view name) const {
    for (int a = 0; a < axes(); ++a)
      if (names_[static_cast<std::size_t>(a)] == name) return a;
    return -1;
  }

 private:
  device_mesh() = default;
  // What all copies have in common.
  struct shared_parts {
    dynamic_array<communicator> groups;  // by bits of divided axes, those made so far: of more than one device
    dynamic_array<communicator> of_program;  // of the same sets, those asked for
    dynamic_array<cached_pair> pairs;
    shared_value<mesh_axes const> axes;  // for listeners
    std::string name;
    std::uint64_t serial = ++made;
    inline static std::atomic<std::uint64_t> made{0};
    used_by_one of_its_own{};
    used_by_one* use = &of_its_own;
  };

  void require_agreement(node_wish const& nodes) const;
  void require_axes() const;
  void require_as_many_devices() const;
  void lay_out(node_wish const& nodes);
  void prepare_groups();
  void prepare_levels(std::uint32_t set) const;
  dynamic_array<int> members(std::uint32_t set) const;
  node_grid grid_of(std::uint32_t set) const;

  communicator world_;
  std::vector<std::string> names_;
  dynamic_array<int> sizes_;
  dynamic_array<int> within_;
  dynamic_array<int> coordinates_;
  std::uint32_t divided_ = 0;  // the axes of more than one device; none where absent
  shared_value<shared_parts> shared_;
  bool absent_ = false;
};

[[gnu::cold]] inline device_mesh::device_mesh(communicator const& world, std::vector<std::string> names,
                                              dynamic_array<int> sizes, node_wish const& nodes)
    : world_(world), names_(std::move(names)), sizes_(std::move(sizes)), shared_(shared_value<shared_parts>::make()) {
  shared_->name = describe();
  if (world_.size() > 1 && !world_.is_dry() && !mpi_serves_threads_at_once()) shared_->use = &use_of_mpi;
  exclusive_use const made_by_one = use("make_mesh");
  require_agreement(nodes);
  require_axes();
  require_as_many_devices();
  lay_out(nodes);
  coordinates_.resize(sizes_.size());
  int rest = device();
  for (std::size_t a = sizes_.size(); a-- > 0; rest /= sizes_[a]) coordinates_[a] = rest % sizes_[a];
  prepare_groups();
}

inline device_mesh device_mesh::absent(std::vector<std::string> names, dynamic_array<int> sizes) {
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

inline device_mesh device_mesh::dry(std::vector<std::string> names, dynamic_array<int> sizes, std::int64_t device,
                                    node_wish const& nodes) {
  device_mesh const asked = absent(names, sizes);  // throws for axes that no mesh can have
  if (asked.devices() == std::numeric_limits<int>::max())
    throw error("dry_mesh: a mesh has at most 2147483646 devices, but this one has " + asked.describe() +
                "; give smaller sizes");
  if (device < 0 || device >= asked.devices())
    throw error("dry_mesh: this process plays one of the mesh's devices, 0 to " + std::to_string(asked.devices() - 1) +
                ", but as device " + std::to_string(device) + "; give the number of one of them");
  return {communicator::dry(asked.devices(), static_cast<int>(device)), std::move(names), std::move(sizes), nodes};
}

/// Which block of the mesh each node holds. A dry mesh has one node, if nothing is said.
[[gnu::cold]] inline void device_mesh::lay_out(node_wish const& nodes) {
  bool const asks = world_.size() > 1 && (!is_dry() || devices_per_node_said() > 0);
  within_ = nodes.is_said() ? wished_block(is_dry() ? "dry_mesh" : "make_mesh", nodes, sizes_, describe())
            : asks          ? found_block(world_, sizes_)
                            : sizes_;
  if (nodes.is_said() && !is_dry() && world_.size() > 1) world_ = in_order_of_nodes(world_, sizes_, within_);
}

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

[[gnu::cold]] inline std::string device_mesh::describe() const {
  std::string text;
  for (std::size_t a = 0; a < sizes_.size(); ++a)
    text += (a ? " · " : "") + (a < names_.size() ? names_[a] : std::string("?")) + "=" + std::to_string(sizes_[a]);
  return text.empty() ? "no axes" : text;
}

inline std::int64_t device_mesh::fingerprint() const {
  std::uint64_t n = 14695981039346656037u;  // FNV-1a
  for (char c : describe()) n = (n ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<std::int64_t>(n);
}

/// Devices that were told different meshes would wait for each other in its operations, so they compare fingerprints
/// first.
[[gnu::cold]] inline void device_mesh::require_agreement(node_wish const& nodes) const {
  std::uint64_t said = static_cast<std::uint64_t>(fingerprint());
  auto const add = [&](int n) { said = (said ^ static_cast<std::uint64_t>(n)) * 1099511628211u; };
  add(nodes.each);
  add(devices_per_node_said());
  for (int n : nodes.within) add(n);
  std::int64_t const mine = static_cast<std::int64_t>(said);
  std::int64_t extremes[2] = {mine, ~mine};
  world_.find_largest(extremes, 2);
  if (extremes[0] == ~extremes[1]) return;
  std::int64_t of_first = world_.rank() == 0 ? mine : std::numeric_limits<std::int64_t>::min();
  world_.find_largest(&of_first, 1);
  std::int64_t others = mine != of_first ? world_.size() - world_.rank() : 0;  // most of the first that differs
  world_.find_largest(&others, 1);
  throw error("make_mesh: every device makes the same mesh, but device " + std::to_string(world_.size() - others) +
              " names other axes, sizes or nodes than device 0; compute them from values that all devices share");
}

[[gnu::cold]] inline void device_mesh::require_axes() const {
  if (names_.size() != sizes_.size())
    throw error("make_mesh: every mesh axis has a name and a size; give as many names as sizes");
  if (axes() > max_axes)
    throw error("make_mesh: a mesh has at most " + std::to_string(max_axes) + " axes, this one has " +
                std::to_string(axes()) + "; join axes");
  for (int a = 0; a < axes(); ++a) {
    if (size(a) < 1)
      throw error("make_mesh: a mesh axis has at least one device, but " + name(a) + "=" + std::to_string(size(a)) +
                  "; use " + name(a) + "=1 for an axis that divides nothing");
    if (find(name(a)) != a)
      throw error("make_mesh: every mesh axis is named once, but " + name(a) + " stands twice; rename one");
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
    throw error("make_mesh: " + describe() + " needs " + std::to_string(needed) +
                (needed == 1 ? " device" : " devices") + ", the communicator has " + std::to_string(world_.size()) +
                "; choose sizes whose product is " + std::to_string(world_.size()) +
                ", or start as many processes as the mesh has devices");
  }
}

/// @throws ostraka::error if the mesh is dry, where nothing stands for what `operation` would do
inline void require_devices(device_mesh const& mesh, std::string_view operation) {
  if (mesh.is_dry())
    throw error(std::string(operation) + ": a dry mesh has no devices, so that its tensors have no values, but " +
                mesh.describe() + " is one; call it on a mesh of os::make_mesh alone");
}

/// The numbers of the devices of a group in its order.
inline dynamic_array<int> device_mesh::members(std::uint32_t set) const {
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

/// How the devices of a group lie on nodes.
inline node_grid device_mesh::grid_of(std::uint32_t set) const {
  node_grid grid;
  for (int a = 0; a < axes(); ++a)
    if ((set >> a & 1u) != 0) grid.add(size(a), within_node(a));
  return grid;
}

/// The groups of both levels of the group over these axes, where it has levels: made now, or foretold to who observes.
[[gnu::cold]] inline void device_mesh::prepare_levels(std::uint32_t set) const {
  node_grid const grid = grid_of(set);
  if (!grid.has_levels()) return;
  if (world_.compares_calls()) return static_cast<void>(group(set).levels());
  dynamic_array<int> const all = members(set);
  int const here = static_cast<int>(all.find(device()) - all.begin());
  dynamic_array<int> within, between;
  for (int p = 0; p < grid.each(); ++p) within.push_back(all[static_cast<std::size_t>(grid.device(grid.node_of(here), p))]);
  for (int n = 0; n < grid.nodes(); ++n)
    between.push_back(all[static_cast<std::size_t>(grid.device(n, grid.place_of(here)))]);
  world_.expect_part(within);
  world_.expect_part(between);
}

/// Devices that compare their calls make all groups now: a device that makes a group later could not tell the others
/// what it is about to call.
[[gnu::cold]] inline void device_mesh::prepare_groups() {
  for (int a = 0; a < axes(); ++a) divided_ |= size(a) > 1 ? 1u << a : 0u;
  shared_->groups.resize(std::size_t(1) << axes());
  shared_->of_program.resize(shared_->groups.size());
  if (world_.size() > 1) {
    shared_->axes = shared_value<mesh_axes const>::make(
        mesh_axes{names_, sizes_, coordinates_, device(), is_dry(), within_});
    world_.stand_for(shared_->axes, divided_);
    world_.lies_on(grid_of(divided_));
  }
  if (is_dry()) return;
  for (std::uint32_t set = 1; set <= divided_; ++set)
    if ((set & ~divided_) == 0) {
      if (set < divided_) world_.compares_calls() ? static_cast<void>(group(set)) : world_.expect_part(members(set));
      prepare_levels(set);
    }
}

}  // namespace ostraka::engine
