// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The hook for observing the groups of a job. A group counts the collectives that this device has entered in
/// memory that the observer provides: one store per collective. The observer itself is called only when a group is
/// created or freed. Without an observer nothing is counted. engine/spmd/ sets one when the job begins.

#include <atomic>
#include <cstdint>

#include <ostraka/engine/groups/carrier.hpp>
#include <ostraka/engine/machine/thread_slot.hpp>

namespace ostraka::engine {

/// The calls that ranks compare before they communicate. `first_runs`: the calls that the group has not made before
/// with the same extents.
enum class compared_calls { none, first_runs, all };

/// How far this device has come in the collectives of one group.
struct group_progress {
  static constexpr std::uint64_t count_mask = 0xFFFFFF;

  std::atomic<std::uint64_t>* published = nullptr;  ///< a number for each thread slot, which others may read
  std::uint64_t id = 0;                             ///< the id of the group; the bits of the count are zero
  std::uint64_t count = 0;                          ///< number of collectives entered
  int slot = -1;                                    ///< the slot that published the last of them

  void enter() {
    int const mine = thread_slot::of_this_thread();
    if (mine != slot) change_slot(mine);
    published[mine].store(id | (++count & count_mask), std::memory_order_release);
  }

 private:
  // Another thread continues with the group. The count that the last thread left must go: once the group's count is
  // half the mask further, it would read as a future one.
  [[gnu::cold, gnu::noinline]] void change_slot(int mine) {
    std::uint64_t left = id | (count & count_mask);
    if (slot >= 0) published[slot].compare_exchange_strong(left, 0);
    slot = mine;
  }
};

/// Is notified when groups are created and freed.
class group_observer {
 public:
  /// These ranks, this one among them, are about to create a communicator. `later`: within an operation that needs the
  /// communicator. Collective over the ranks if `later` is true and first runs of calls are compared.
  virtual void creates(carrier::processes const& ranks, bool later) = 0;

  /// These ranks may create a communicator later; the ranks that begin to create it will wait for this one. Not
  /// collective.
  virtual void may_create(carrier::processes const& ranks) = 0;

  /// A group was created. It counts its collectives in the returned record until it returns the record. Collective over
  /// the group.
  virtual group_progress* made(native_communicator group) = 0;

  virtual void given_back(group_progress* progress) = 0;

  /// Returns the calls that ranks compare.
  [[nodiscard]] compared_calls compared() const { return compared_; }

 protected:
  ~group_observer() = default;
  compared_calls compared_ = compared_calls::none;
};

/// Returns the observer of all groups of these ranks, or null. Collective over them. The pointer is null if there are
/// no observers.
[[gnu::visibility("default")]] inline group_observer* (*find_group_observer)(native_communicator ranks) = nullptr;

}  // namespace ostraka::engine
