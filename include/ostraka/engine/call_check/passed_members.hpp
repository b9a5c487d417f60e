// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds members of a group that have passed a call which this rank compares, if only first runs are compared.
/// Such a member makes a call that it knows already, and sends no record of it. This rank reads that call in the
/// member's page (progress_window.hpp), even while the member is blocked in MPI. No timeout is needed:
///
///     a rank passes a call only once its record of that call was received, so a member that has passed, and whose
///     record is not here, has sent none
///
/// A member that has entered an operation of another common group, which this rank has not entered, waits for it there,
/// or will. This rank watches it for a second before it reports that.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <cstdint>
#  include <string>

#  include <ostraka/engine/groups/group_observer.hpp>
#  include <ostraka/engine/machine/this_thread.hpp>
#  include <ostraka/engine/spmd/end_job.hpp>
#  include <ostraka/engine/spmd/group_records.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>
#  include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine::detail {

class passed_members {
 public:
  explicit passed_members(group_record const& group)
      : group_(group), is_possible_(group.monitor->compared() == compared_calls::first_runs) {}

  /// True if first runs are compared: only then can a member have passed.
  [[nodiscard]] bool is_possible() const { return is_possible_; }

  /// Ends the job if a missing member has passed the call with these words.
  template <class Missing>
  [[gnu::cold]] void probe(Missing const& is_missing, std::string const& words) {
    peer_monitor const& monitor = *group_.monitor;
    if (!monitor.can_read()) return;
    for (std::size_t m = 0; m < group_.members->size(); ++m) {
      if (!is_missing(m)) continue;
      int const rank = (*group_.members)[m];
      progress_window::numbers const before = monitor.numbers_of(rank);
      for (int slot = 0; slot < progress_window::slots; ++slot) {
        bool const passed = has_passed(before, slot);
        if (!passed && !is_elsewhere(before, slot)) continue;
        progress_window::numbers const now = monitor.numbers_of(rank);  // its call is published before its entry
        if (passed && has_passed(now, slot)) throw_passed(rank, slot, now, words);
        if (!passed && now.last[slot] == before.last[slot]) wait_elsewhere(rank, slot, now, words);
      }
    }
  }

 private:
  [[nodiscard]] bool has_passed(progress_window::numbers const& n, int slot) const {
    if ((n.last[slot] & ~group_progress::count_mask) != group_.id) return false;
    std::uint64_t const ahead = (n.last[slot] - group_.count) & group_progress::count_mask;
    return ahead == 0 ? n.call[slot] % 2 == 0 : ahead <= group_progress::count_mask / 2;
  }

  // Ignored with several threads, since they may enter groups in any order.
  [[nodiscard]] bool is_elsewhere(progress_window::numbers const& n, int slot) const {
    return (n.last[slot] & ~group_progress::count_mask) != group_.id && !group_.monitor->is_thread_multiple() &&
           group_.monitor->is_ahead(n.last[slot]);
  }

  [[gnu::cold]] void wait_elsewhere(int rank, int slot, progress_window::numbers const& n, std::string const& words) {
    if (rank != stuck_ || n.last[slot] != stuck_in_) {
      if (stuck_ >= 0 && this_thread::seconds() - since_ < 2 && rank != stuck_) return;  // one at a time
      stuck_ = rank;
      stuck_in_ = n.last[slot];
      since_ = this_thread::seconds();
    } else if (this_thread::seconds() - since_ > 1) {
      std::string const other = number(rank);
      end_job(join_text(this_rank(), " calls ", words, ", which needs ", other, ", but ", other, " calls ",
                        called(rank, slot, n), ", which needs ", this_rank(),
                        ": they would wait for each other; ranks that share operations call them in the same order"));
    }
  }

  [[noreturn, gnu::cold]] void throw_passed(int rank, int slot, progress_window::numbers const& n,
                                            std::string const& words) const {
    end_job(join_text(words.substr(0, words.find(' ')),
                      ": all ranks call the same operations in the same order with the same sizes, but ", this_rank(),
                      " calls ", words, "; ", number(rank), " calls ", called(rank, slot, n),
                      "; compute sizes and branches from values that all ranks share"));
  }

  [[nodiscard, gnu::cold]] std::string called(int rank, int slot, progress_window::numbers const& n) const {
    std::string const known = group_.calls.words(n.call[slot]);
    if (!known.empty()) return known;
    peer_monitor const& monitor = *group_.monitor;
    std::string const other = monitor.is_thread_multiple() ? std::string() : monitor.call_of(rank, slot, n);
    return other.empty() ? "another operation" : other;
  }

  [[nodiscard, gnu::cold]] std::string number(int rank) const {
    return join_text("rank ", number_in_world(group_.monitor->comm(), rank));
  }

  group_record const& group_;
  bool const is_possible_;
  int stuck_ = -1;  // the member that is elsewhere, its place, and since when
  std::uint64_t stuck_in_ = 0;
  double since_ = 0;
};

}  // namespace ostraka::engine::detail

#endif
