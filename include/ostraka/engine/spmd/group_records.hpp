// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The groups of ranks that this rank belongs to, and the number of collectives of each that it has entered.
/// All members compute the same id of a group without a message, from the fingerprint of its ranks and its number among
/// the groups of the same ranks. So a rank that reads, on another rank's page, the collective that the other entered
/// can tell whether it has entered that collective itself. Each set of ranks also has a record for the creation of
/// communicators, which is a collective.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <atomic>
#  include <cstddef>
#  include <cstdint>
#  include <iterator>
#  include <limits>
#  include <string>
#  include <utility>

#  include <ostraka/engine/carriers/control.hpp>
#  include <ostraka/engine/groups/group_observer.hpp>
#  include <ostraka/engine/memory/per_thread.hpp>
#  include <ostraka/engine/spmd/known_calls.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

class peer_monitor;

/// A group and its members.
struct group_record : group_progress {
  peer_monitor* monitor = nullptr;
  dynamic_array<int> const* members = nullptr;  ///< in the monitor's numbering and the group's order, if it compares
  std::uint64_t ranks = 0;                      ///< fingerprint of the members
  std::uint64_t number = 0;  ///< its number among the groups of these members; 0: the record of their creation
  std::uint64_t made = 0;    ///< in record 0: number of groups created
  known_calls calls;         ///< the calls compared, if the group compares first runs
  group_record* next = nullptr;
  group_record** at = nullptr;  ///< the pointer that points to it
};

/// All records of a monitor. Several host threads may create and free groups at the same time.
class group_records {
 public:
  /// Publishes counts in `published`. Groups that compare calls keep their members. `in_threads`: several threads of a
  /// rank may create groups at the same time.
  void begin(peer_monitor& monitor, native_communicator all, std::atomic<std::uint64_t>* published,
             compared_calls compared, bool in_threads) {
    monitor_ = &monitor;
    all_ = all;
    published_ = published;
    in_threads_ = in_threads;
    most_members_ = compared == compared_calls::all          ? std::numeric_limits<std::size_t>::max()
                    : compared == compared_calls::first_runs ? std::size_t{known_calls::most_members}
                                                             : 0;
  }

  /// Returns the record for the creation of communicators of these ranks, which exists as long as the process. Not
  /// collective.
  [[gnu::cold]] group_record& creation_by(carrier::processes const& ranks) {
    dynamic_array<int> members = ranks.numbers_in(carrier::processes(all_));
    std::uint64_t fingerprint = 14695981039346656037u;  // FNV-1a
    for (int m : members) fingerprint = (fingerprint ^ static_cast<std::uint64_t>(m)) * 1099511628211u;
    fingerprint = (fingerprint ^ fingerprint >> 29) * 0xBF58476D1CE4E5B9u;
    short_lock const alone(changing_);
    for (group_record* r = creations_; r != nullptr; r = r->next)
      if (r->ranks == fingerprint) return *r;
    // A list of members for each group would grow with the job.
    bool const keeps_them = members.size() <= most_members_;
    group_record* const r = open(keeps_them ? new dynamic_array<int>(std::move(members)) : nullptr, fingerprint, 0);
    r->next = creations_;
    creations_ = r;
    return *r;
  }

  /// Enters the creation of a group of these ranks. If several threads create groups of the same ranks, they enter one
  /// at a time.
  void enter_creation_by(carrier::processes const& ranks) {
    group_record& creation = creation_by(ranks);
    short_lock const alone(changing_);
    creation.enter();
  }

  /// Adds a new group. Where threads may create groups of the same ranks at the same time, in no common order, the
  /// first member numbers the groups. Collective over the group.
  [[gnu::cold]] group_record* add(native_communicator group) {
    group_record& creation = creation_by(carrier::processes(group));
    auto number = [&] {
      short_lock const alone(changing_);
      return ++creation.made;
    }();
    if (in_threads_) control::broadcast(group, &number, sizeof(number), 0);
    short_lock const alone(changing_);
    group_record* const r = open(creation.members, creation.ranks, number);
    r->next = alive_;
    r->at = &alive_;
    if (alive_ != nullptr) alive_->at = &r->next;
    alive_ = r;
    ++count_;
    return r;
  }

  void give_back(group_record* r) {
    short_lock const alone(changing_);
    *r->at = r->next;
    if (r->next != nullptr) r->next->at = r->at;
    --count_;
    retired_[retired_count_++ % std::size(retired_)] = {r->id, r->count};
    delete r;
  }

  /// Returns the number of groups that exist.
  [[nodiscard]] int count() const { return count_; }

  /// True if `entered`, a collective that another rank has entered, belongs to a group of this rank, and this rank has
  /// not entered it.
  [[nodiscard]] bool is_ahead(std::uint64_t entered) const {
    std::uint64_t const id = entered & ~group_progress::count_mask;
    auto const is_ahead_of = [entered](std::uint64_t count) {
      std::uint64_t const ahead = (entered - count) & group_progress::count_mask;
      return ahead != 0 && ahead <= group_progress::count_mask / 2;
    };
    if (id == 0) return false;
    for (group_record const* r = alive_; r != nullptr; r = r->next)
      if (r->id == id) return is_ahead_of(r->count);
    for (group_record const* r = creations_; r != nullptr; r = r->next)
      if (r->id == id) return is_ahead_of(r->count);
    for (gone const& g : retired_)
      if (g.id == id) return is_ahead_of(g.count);
    return false;
  }

  /// Returns the description of a call that some group has compared; empty if none has. @pre no other thread creates
  /// groups meanwhile
  [[nodiscard, gnu::cold]] std::string words(std::uint64_t fingerprint) const {
    for (group_record const* r = alive_; r != nullptr; r = r->next)
      if (r->calls.knows(fingerprint)) return r->calls.words(fingerprint);
    return {};
  }

  /// Publishes counts in `published` from now on.
  void publish_to(std::atomic<std::uint64_t>* published) {
    published_ = published;
    for (group_record* r = alive_; r != nullptr; r = r->next) r->published = published;
    for (group_record* r = creations_; r != nullptr; r = r->next) r->published = published;
  }

 private:
  group_record* open(dynamic_array<int> const* members, std::uint64_t ranks, std::uint64_t number) const {
    auto* const r = new group_record;
    r->published = published_;
    r->id = (ranks ^ number * 0x9E3779B97F4A7C15u) & ~group_progress::count_mask;
    r->monitor = monitor_;
    r->members = members;
    r->ranks = ranks;
    r->number = number;
    return r;
  }

  peer_monitor* monitor_ = nullptr;
  native_communicator all_ = no_communicator();
  std::atomic<std::uint64_t>* published_ = nullptr;
  bool in_threads_ = false;
  std::size_t most_members_ = 0;  // the largest group whose members are kept
  group_record* alive_ = nullptr;
  group_record* creations_ = nullptr;  // one for each set of ranks seen so far
  int count_ = 0;
  struct gone {
    std::uint64_t id = 0;
    std::uint64_t count = 0;
  };
  gone retired_[256];  // the last groups freed, in which other ranks may still wait for this one
  unsigned retired_count_ = 0;
  std::atomic_flag changing_{};
};

}  // namespace ostraka::engine

#endif
