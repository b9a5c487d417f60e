// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Devices in a grid with named axes, and a communicator for every set of them that is used: mesh {X: 2, Y: 4}
/// numbers device (x, y) as 4 x + y, and the group over {X, Y} joins what a collective over X and Y together needs.
/// What a device keeps does not grow with their number.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/collectives/all_gather.hpp>
#include <ostraka/engine/collectives/communicator.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/types/error.hpp>

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
  static constexpr int max_axes = 6;

  /// Collective over `world`. Throws ostraka::error, on all devices alike, unless every device gives the same axes, at
  /// least one device to each, and the sizes multiply to world.size().
  device_mesh(communicator const& world, std::vector<std::string> names, dynamic_array<int> sizes);

  /// The mesh as seen by a process that is none of its devices. Not collective; throws ostraka::error for axes that no
  /// mesh can have.
  static device_mesh absent(std::vector<std::string> names, dynamic_array<int> sizes);

  /// Is this process none of the devices?
  bool absent() const { return absent_; }

  int axes() const { return static_cast<int>(sizes_.size()); }
  std::string const& name(int axis) const { return names_[static_cast<std::size_t>(axis)]; }
  int size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
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
    if (set != 0 && one.size() == 1) one = world_.part(members(set));
    return one;
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

  /// Their number.
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
    std::string name;
    used_by_one of_its_own{};
    used_by_one* use = &of_its_own;
  };

  void require_agreement() const;
  void require_axes() const;
  void require_as_many_devices() const;
  void prepare_groups();
  dynamic_array<int> members(std::uint32_t set) const;

  communicator world_;
  std::vector<std::string> names_;
  dynamic_array<int> sizes_;
  dynamic_array<int> coordinates_;
  std::uint32_t divided_ = 0;  // the axes of more than one device; none where absent
  shared_value<shared_parts> shared_;
  bool absent_ = false;
};

inline device_mesh::device_mesh(communicator const& world, std::vector<std::string> names, dynamic_array<int> sizes)
    : world_(world), names_(std::move(names)), sizes_(std::move(sizes)), shared_(shared_value<shared_parts>::make()) {
  shared_->name = describe();
  if (world_.size() > 1 && !mpi_serves_threads_at_once()) shared_->use = &use_of_mpi;
  exclusive_use const made_by_one = use("make_mesh");
  require_agreement();
  require_axes();
  require_as_many_devices();
  coordinates_.resize(sizes_.size());
  int rest = device();
  for (std::size_t a = sizes_.size(); a-- > 0; rest /= sizes_[a]) coordinates_[a] = rest % sizes_[a];
  prepare_groups();
}

inline device_mesh device_mesh::absent(std::vector<std::string> names, dynamic_array<int> sizes) {
  device_mesh mesh;
  mesh.names_ = std::move(names);
  mesh.sizes_ = std::move(sizes);
  mesh.absent_ = true;
  mesh.shared_ = shared_value<shared_parts>::make();
  mesh.shared_->name = mesh.describe();
  mesh.require_axes();
  mesh.coordinates_.assign(mesh.sizes_.size(), -1);
  return mesh;
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
[[gnu::cold]] inline void device_mesh::require_agreement() const {
  std::int64_t const mine = fingerprint();
  std::int64_t extremes[2] = {mine, ~mine};
  world_.find_largest(extremes, 2);
  if (extremes[0] == ~extremes[1]) return;
  std::vector<std::int64_t> all(static_cast<std::size_t>(world_.size()));
  all_gather(world_, &mine, all.data(), std::vector<std::int64_t>(all.size(), 1));
  for (std::size_t d = 0; d < all.size(); ++d)
    if (all[d] != all[0])
      throw error("make_mesh: every device makes the same mesh, but device " + std::to_string(d) +
                  " names other axes or sizes than device 0; compute the sizes from values that all devices share");
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

/// Devices that compare their calls make all groups now: a device that makes a group later could not tell the others
/// what it is about to call.
[[gnu::cold]] inline void device_mesh::prepare_groups() {
  for (int a = 0; a < axes(); ++a) divided_ |= size(a) > 1 ? 1u << a : 0u;
  shared_->groups.resize(std::size_t(1) << axes());
  shared_->of_program.resize(shared_->groups.size());
  for (std::uint32_t set = 1; set < divided_; ++set)
    if ((set & ~divided_) == 0)
      world_.compares_calls() ? static_cast<void>(group(set)) : world_.expect_part(members(set));
}

}  // namespace ostraka::engine
