// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A group of devices that talk to each other: an MPI communicator of our own, or, without MPI, the one device
/// there is. An observer can be told which groups there are, and how far this device has come in them.

#include <cstdint>
#include <utility>

#include <ostraka/engine/collectives/group_observer.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>

namespace ostraka::engine {

/// A group of devices, numbered from 0. Copies share one MPI communicator, which is freed with the last of them unless
/// MPI has ended before.
class communicator {
 public:
  /// The group of this device alone; needs no communication and no MPI.
  communicator() = default;

  /// A duplicate of the caller's communicator, so that our messages never meet theirs. Collective.
  explicit communicator(native_communicator theirs);

  /// All devices of the job. Collective.
  static communicator world();

  /// The devices that give the same colour, in the order of their keys. Collective over this group.
  communicator split(int colour, int key) const;

  /// The devices of these numbers, this one among them, in this order. Collective over them alone.
  communicator part(dynamic_array<int> const& numbers) const;

  /// The same devices in the same order, for messages that are not ours. Collective over this group.
  communicator duplicate() const;

  /// Tells the observer that part(numbers) may be called later. Not collective.
  void expect_part(dynamic_array<int> const& numbers) const;

  int size() const { return shared_ ? shared_->size : 1; }
  int rank() const { return shared_ ? shared_->rank : 0; }
  native_communicator native() const;

  /// Of each member, its number in the other group, -1 for none. Not collective.
  dynamic_array<int> numbers_in(communicator const& other) const;

  /// The largest of what the members give, number by number. Collective.
  void find_largest(std::int64_t* numbers, int count) const;

  /// Every collective begins with this, so that others can read that this device waits for them in it.
  void enter() const {
#if OSTRAKA_ENABLE_MPI
    if (shared_ && shared_->progress) shared_->progress->enter();
#endif
  }

  /// The tag of the messages of a collective that begins now. Members begin the collectives of a group in the same
  /// order, so it is the same on all of them, and what several send that are in flight does not meet.
  int next_tag() const {
#if OSTRAKA_ENABLE_MPI
    constexpr int tags = 1 << 14;  // MPI has twice as many, of which check mode uses the last
    return shared_ ? shared_->tag = (shared_->tag + 1) % tags : 0;
#else
    return 0;
#endif
  }

  /// Do its devices tell each other what they are about to call?
  bool compares_calls() const {
#if OSTRAKA_ENABLE_MPI
    return shared_ && shared_->progress && shared_->observer->compares_calls();
#else
    return false;
#endif
  }

#if OSTRAKA_ENABLE_MPI
  /// What its observer gave it; null if nobody observes, and for one device.
  group_progress* progress() const { return shared_ ? shared_->progress : nullptr; }
#endif

 private:
  struct owned {
    native_communicator native;
    int size = 1;
    int rank = 0;
#if OSTRAKA_ENABLE_MPI
    mutable int tag = 0;  // given out last
    group_observer* observer = nullptr;
    group_progress* progress = nullptr;
    owned(native_communicator adopted, group_observer* observed_by);
#endif
    owned(owned const&) = delete;
    owned& operator=(owned const&) = delete;
    ~owned();
  };
  explicit communicator(shared_value<owned const> shared) : shared_(std::move(shared)) {}

  shared_value<owned const> shared_;  // empty: this device alone
};

#if OSTRAKA_ENABLE_MPI

inline communicator::owned::owned(native_communicator adopted, group_observer* observed_by)
    : native(adopted), observer(observed_by) {
  // An error that is returned on one device only would hang the others, whatever handler the user's communicator has.
  MPI_Comm_set_errhandler(native, MPI_ERRORS_ARE_FATAL);
  size = size_of(native);
  MPI_Comm_rank(native, &rank);
  if (observer && size > 1) progress = observer->made(native);
}

inline communicator::owned::~owned() {
  if (progress) observer->given_back(progress);
  int finalized = 0;
  MPI_Finalized(&finalized);
  MPI_Comm ours = native;
  if (!finalized) MPI_Comm_free(&ours);
}

inline communicator::communicator(native_communicator theirs) {
  group_observer* const observer = find_group_observer ? find_group_observer(theirs) : nullptr;
  if (observer) observer->creates(ranks_of(theirs).group);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(theirs, &duplicate);
  shared_ = shared_value<owned const>::make(duplicate, observer);
}

inline communicator communicator::world() { return communicator(MPI_COMM_WORLD); }

inline communicator communicator::split(int colour, int key) const {
  if (!shared_) return {};
  enter();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(shared_->native, colour, key, &part);
  return communicator(shared_value<owned const>::make(part, shared_->observer));
}

inline communicator communicator::part(dynamic_array<int> const& numbers) const {
  if (!shared_ || numbers.size() == 1) return {};
  ranks_of const all(shared_->native);
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Group_incl(all.group, static_cast<int>(numbers.size()), numbers.data(), &some);
  if (shared_->observer) shared_->observer->creates(some);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create_group(shared_->native, some, 0, &made);
  MPI_Group_free(&some);
  return communicator(shared_value<owned const>::make(made, shared_->observer));
}

inline communicator communicator::duplicate() const {
  if (!shared_) return {};
  enter();
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(shared_->native, &made);
  return communicator(shared_value<owned const>::make(made, nullptr));
}

inline void communicator::expect_part(dynamic_array<int> const& numbers) const {
  if (!shared_ || !shared_->observer) return;
  ranks_of const all(shared_->native);
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Group_incl(all.group, static_cast<int>(numbers.size()), numbers.data(), &some);
  shared_->observer->may_create(some);
  MPI_Group_free(&some);
}

inline void communicator::find_largest(std::int64_t* numbers, int count) const {
  if (!shared_) return;
  enter();
  MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INT64_T, MPI_MAX, shared_->native);
}

inline native_communicator communicator::native() const { return shared_ ? shared_->native : MPI_COMM_SELF; }

inline dynamic_array<int> communicator::numbers_in(communicator const& other) const {
  dynamic_array<int> mine(static_cast<std::size_t>(size()));
  dynamic_array<int> theirs(mine.size());
  for (int i = 0; i < size(); ++i) mine[static_cast<std::size_t>(i)] = i;
  MPI_Group from = MPI_GROUP_NULL;
  MPI_Group to = MPI_GROUP_NULL;
  MPI_Comm_group(native(), &from);
  MPI_Comm_group(other.native(), &to);
  MPI_Group_translate_ranks(from, size(), mine.data(), to, theirs.data());
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  for (int& n : theirs) n = n == MPI_UNDEFINED ? -1 : n;
  return theirs;
}

#else

inline communicator::owned::~owned() = default;
inline communicator::communicator(native_communicator) {}
inline communicator communicator::world() { return {}; }
inline communicator communicator::split(int, int) const { return {}; }
inline communicator communicator::part(dynamic_array<int> const&) const { return {}; }
inline communicator communicator::duplicate() const { return {}; }
inline void communicator::expect_part(dynamic_array<int> const&) const {}
inline void communicator::find_largest(std::int64_t*, int) const {}
inline native_communicator communicator::native() const { return {}; }
inline dynamic_array<int> communicator::numbers_in(communicator const&) const { return {0}; }

#endif

}  // namespace ostraka::engine
