// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A group of devices that communicate: a private group of the carrier (for example MPI). It counts the data
/// that this device sends. In a dry group only this device exists: its messages are counted and not sent. A group knows
/// which of its members run on one node. An observer can follow which groups exist, and how far this device is in each.

#include <cstdint>
#include <utility>

#include <ostraka/engine/groups/carrier.hpp>
#include <ostraka/engine/groups/group_observer.hpp>
#include <ostraka/engine/groups/nodes.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/record/events.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The bytes and messages that a device sends, so that the sum over all devices is the plan's count
/// (docs/design/counting-bytes.md). A gather by an MPI collective counts the data received from others; an all-reduce
/// of n elements counts as much as a reduce-scatter and an all-gather of them; in a collective with a root, the root
/// counts for all.
struct traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;  ///< messages to one other device, and collectives that MPI does
  std::int64_t bytes_between_nodes = 0;  ///< the part of `bytes` that goes to devices of other nodes

  void add(std::int64_t more_bytes, std::int64_t more_messages = 1, std::int64_t between_nodes = 0) {
    bytes += more_bytes;
    messages += more_messages;
    bytes_between_nodes += between_nodes;
  }
};

struct node_levels;

/// A group of devices, numbered from 0. Copies share one group of the carrier, which ends with the last of them.
class communicator {
 public:
  /// The group of this device alone. It needs no communication and no carrier.
  communicator() = default;

  /// A duplicate of the caller's communicator, so that our messages and the caller's are never matched. Collective.
  [[gnu::cold]] explicit communicator(native_communicator theirs);

  /// Returns the group of all devices of the job. Collective.
  static communicator world();

  /// Returns a group of `size` devices, of which only this one exists: nothing is sent, and no carrier is needed.
  static communicator dry(int size, int rank) { return communicator(shared_value<owned const>::make(size, rank)); }
  [[nodiscard]] bool is_dry() const { return shared_ && shared_->dry; }

  /// Returns the traffic of this device in all collectives of the group so far; @pre the group has others
  [[nodiscard]] traffic& sent() const { return *shared_->counted; }

  /// Tells listeners that this is the group of this mesh over these axes; @pre the group has others
  void stand_for(shared_value<mesh_axes const> const& mesh, std::uint32_t over) const {
    shared_->mesh = mesh;
    shared_->over = over;
  }
  [[nodiscard]] mesh_axes const* mesh() const { return shared_ && shared_->mesh ? &*shared_->mesh : nullptr; }
  [[nodiscard]] std::uint32_t over() const { return shared_ ? shared_->over : 0; }

  /// Returns the group's layout on nodes: all on one, unless set_nodes has set it.
  [[nodiscard]] node_grid const& nodes() const {
    static constexpr node_grid one{};
    return shared_ ? shared_->nodes : one;
  }
  [[nodiscard]] bool same_node(int member) const {
    return nodes().axes == 0 || nodes().node_of(member) == shared_->node;
  }

  /// Sets the layout on nodes, which is the same on all members.
  [[gnu::cold]] void set_nodes(node_grid const& nodes) const {
    if (!shared_) return;
    shared_->nodes = nodes.nodes() == 1 ? node_grid() : nodes;
    shared_->node = shared_->nodes.node_of(shared_->rank);
  }

  /// Returns the groups of the two levels if nodes hold several members each, otherwise null. Collective over this
  /// group the first time.
  node_levels const* levels() const;

  /// Returns the level that this group is of another group; `all` if it is no level.
  [[nodiscard]] mesh_level level() const { return shared_ ? shared_->level : mesh_level::all; }

  /// Returns the group of the devices with the same colour, in the order of their keys. Collective over this group.
  communicator split(int colour, int key) const;

  /// Returns the group of the devices with these numbers, in this order; this device is one of them. Collective over
  /// these devices alone.
  [[gnu::cold]] communicator part(dynamic_array<int> const& numbers) const;

  /// Returns a group of the same devices in the same order, for messages that are not ours. Collective over this group.
  communicator duplicate() const;

  /// Tells the observer that part(numbers) may be called later. Not collective.
  void expect_part(dynamic_array<int> const& numbers) const;

  int size() const { return shared_ ? shared_->size : 1; }
  int rank() const { return shared_ ? shared_->rank : 0; }
  native_communicator native() const { return shared_ && !shared_->dry ? shared_->group.native() : this_rank_alone(); }

  /// Returns the carrier's group, which sends the messages; null for one device.
  [[nodiscard]] carrier::group const* carried() const { return shared_ ? &shared_->group : nullptr; }

  /// Returns each member's number in the other group, −1 for none. Not collective.
  dynamic_array<int> numbers_in(communicator const& other) const;

  /// Replaces each number by its maximum over all members. Collective.
  [[gnu::cold]] void find_largest(std::int64_t* numbers, int count) const;

  /// Every collective begins with this call, so that others can read that this device waits for them in the collective.
  void enter() const {
    if (shared_ && shared_->progress) shared_->progress->enter();
  }

  /// Returns the tag of the messages of a collective that begins now. Members begin the collectives of a group in the
  /// same order, so all get the same tag, and messages of different collectives in flight are never matched.
  int next_tag() const {
    constexpr int tags = 1 << 14;  // MPI has twice as many; check mode uses the last of them
    return shared_ ? shared_->tag = (shared_->tag + 1) % tags : 0;
  }

  /// Returns the calls that the group's devices compare.
  compared_calls compared() const {
    return shared_ && shared_->progress ? shared_->observer->compared() : compared_calls::none;
  }

  /// True in check mode, where the group's devices compare all calls.
  bool compares_calls() const { return compared() == compared_calls::all; }

  /// Returns the progress that its observer keeps; null without an observer, and for one device.
  group_progress* progress() const { return shared_ ? shared_->progress : nullptr; }

 private:
  struct owned {
    carrier::group group;
    int size = 1;
    int rank = 0;
    bool dry = false;
    mutable traffic sent{};
    mutable shared_value<mesh_axes const> mesh{};
    mutable std::uint32_t over = 0;
    mutable traffic* counted = &sent;  // for a level: its group's counter
    mutable mesh_level level = mesh_level::all;
    mutable node_grid nodes{};
    mutable int node = 0;                            // this device's
    mutable shared_value<node_levels const> levels;  // made once they are needed
    mutable int tag = 0;                             // the last tag used
    group_observer* observer = nullptr;
    group_progress* progress = nullptr;
    owned(int all, int number);
    owned(carrier::group::handle adopted, group_observer* observed_by);
    owned(owned const&) = delete;
    owned& operator=(owned const&) = delete;
    [[gnu::cold]] ~owned();
  };
  explicit communicator(shared_value<owned const> shared) : shared_(std::move(shared)) {}

  communicator dry_part(dynamic_array<int> const& numbers) const {
    int own = 0;
    while (numbers[static_cast<std::size_t>(own)] != rank()) ++own;
    return dry(static_cast<int>(numbers.size()), own);
  }

  // Matches the devices of two dry groups of a whole mesh by number. This device must match itself.
  dynamic_array<int> dry_numbers_in(communicator const& other) const {
    dynamic_array<int> theirs(static_cast<std::size_t>(size()));
    bool const alike = size() == 1 || (is_dry() && other.is_dry() && rank() == other.rank());
    for (int i = 0; i < size(); ++i) theirs[static_cast<std::size_t>(i)] = alike && i < other.size() ? i : -1;
    return theirs;
  }

  carrier::processes members() const {
    return shared_ ? shared_->group.members() : carrier::processes(this_rank_alone());
  }

  [[gnu::cold]] communicator make_level(mesh_level which) const;

  shared_value<owned const> shared_;  // empty: this device alone
};

namespace detail {

// Returns a member's number among the ranks of the job.
[[gnu::cold]] inline int number_in_world(native_communicator ranks, int member) {
  carrier::processes const it(carrier::processes(ranks), {member});
  return it.numbers_in(carrier::processes(all_ranks()))[0];
}

}  // namespace detail

/// The two levels of a group that spans several nodes with several members on each: the members on this device's node,
/// and the members on all nodes that have the same place in their node as this device. Their messages count for the
/// group.
struct node_levels {
  communicator within;   ///< ordered by their places
  communicator between;  ///< ordered by their nodes
};

inline communicator::owned::owned(int all, int number) : size(all), rank(number), dry(true) {}

inline communicator::owned::owned(carrier::group::handle adopted, group_observer* observed_by)
    : group(adopted), size(group.size()), rank(group.rank()), observer(observed_by) {
  if (observer && size > 1) progress = observer->made(group.native());
}

inline communicator::owned::~owned() {
  if (progress) observer->given_back(progress);
}

inline communicator communicator::make_level(mesh_level which) const {
  bool const between = which == mesh_level::between_nodes;
  int const members = between ? nodes().nodes() : nodes().each();
  int const place = nodes().place_of(rank());
  dynamic_array<int> numbers;
  for (int i = 0; i < members; ++i)
    numbers.push_back(between ? nodes().device(i, place) : nodes().device(shared_->node, i));
  communicator made = part(numbers);
  made.stand_for(shared_->mesh, shared_->over);
  made.shared_->level = which;
  made.shared_->counted = shared_->counted;
  if (between) {
    node_grid one_each;
    one_each.add(members, 1);
    made.set_nodes(one_each);
  }
  return made;
}

[[gnu::cold]] inline node_levels const* communicator::levels() const {
  if (!nodes().has_levels()) return nullptr;
  if (!shared_->levels)
    shared_->levels = shared_value<node_levels const>::make(make_level(mesh_level::within_node),
                                                            make_level(mesh_level::between_nodes));
  return &*shared_->levels;
}

inline communicator::communicator(native_communicator theirs) {
  group_observer* const observer = find_group_observer ? find_group_observer(theirs) : nullptr;
  if (observer) observer->creates(carrier::processes(theirs), false);
  shared_ = shared_value<owned const>::make(carrier::group::duplicate_of(theirs), observer);
}

inline communicator communicator::world() { return communicator(all_ranks()); }

inline communicator communicator::split(int colour, int key) const {
  if (!shared_ || shared_->dry) return {};
  enter();
  return communicator(shared_value<owned const>::make(shared_->group.split(colour, key), shared_->observer));
}

inline communicator communicator::part(dynamic_array<int> const& numbers) const {
  if (!shared_ || numbers.size() == 1) return {};
  if (shared_->dry) return dry_part(numbers);
  carrier::processes const some(shared_->group.members(), numbers);
  if (shared_->observer) shared_->observer->creates(some, true);
  return communicator(shared_value<owned const>::make(shared_->group.part(some), shared_->observer));
}

inline communicator communicator::duplicate() const {
  if (!shared_ || shared_->dry) return *this;
  enter();
  return communicator(shared_value<owned const>::make(shared_->group.duplicate(), nullptr));
}

inline void communicator::expect_part(dynamic_array<int> const& numbers) const {
  if (!shared_ || !shared_->observer) return;
  shared_->observer->may_create(carrier::processes(shared_->group.members(), numbers));
}

inline dynamic_array<int> communicator::numbers_in(communicator const& other) const {
  if (is_dry() || other.is_dry()) return dry_numbers_in(other);
  return members().numbers_in(other.members());
}

}  // namespace ostraka::engine
