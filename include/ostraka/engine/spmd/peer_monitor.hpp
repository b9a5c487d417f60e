// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds ranks that wait for this one in vain. A rank that is about to end MPI waits for all ranks to do so,
/// and meanwhile probes the others: it reads, on their pages, the collective that each entered last
/// (progress_window.hpp). If this rank should have joined that collective, it never will, so it prints the error and
/// ends the job. No timeout is needed: a slow rank has entered nothing that others have not. In check mode the monitor
/// also tells whether any rank has moved. Ranks have their numbers in the job, as launchers print them.
/// docs/design/spmd-safety.md lists the errors that are found, and when.

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/types/support/join_text.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <algorithm>
#  include <atomic>
#  include <cstdint>
#  include <string>
#  include <string_view>
#  include <utility>

#  include <ostraka/engine/carriers/control.hpp>
#  include <ostraka/engine/groups/carrier.hpp>
#  include <ostraka/engine/groups/communicator.hpp>
#  include <ostraka/engine/groups/group_observer.hpp>
#  include <ostraka/engine/machine/exclusive_use.hpp>
#  include <ostraka/engine/machine/job_of_mpi.hpp>
#  include <ostraka/engine/machine/this_thread.hpp>
#  include <ostraka/engine/spmd/check_mode.hpp>
#  include <ostraka/engine/spmd/end_job.hpp>
#  include <ostraka/engine/spmd/group_records.hpp>
#  include <ostraka/engine/spmd/presence.hpp>
#  include <ostraka/engine/spmd/progress_window.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

namespace detail {

/// The state of all ranks, as a waiting rank reads it from their pages.
struct standstill {
  std::uint64_t movement = 0;  ///< changes when any rank enters or leaves an Ostraka operation
  bool possible = true;        ///< no rank communicates in an Ostraka operation, and no missing rank waits in one
  bool another_asks = false;   ///< a rank with a lower number asks
};

}  // namespace detail

/// Observes the groups of the ranks of one communicator. It exists until the process ends.
class peer_monitor final : public group_observer {
 public:
  /// Returns the first monitor that covers these ranks, and creates one if there is none; null for a single rank.
  /// Collective.
  [[gnu::cold]] static peer_monitor* over(native_communicator ranks);

  // All of these ranks compare, or none does. The choice depends on their number, and on their agreement when the
  // monitor was created, but not on earlier calls of a rank.
  void creates(carrier::processes const& ranks, bool later) override {
    if (later && compared_ == compared_calls::first_runs && !is_thread_multiple_)
      compare_creation(records_.creation_by(ranks));
    records_.enter_creation_by(ranks);
  }
  /// Compares the creation of a group within a call; observe_groups sets it on each rank.
  [[gnu::visibility("default")]] inline static void (*compare_creation)(group_record& creation) = nullptr;
  void may_create(carrier::processes const& ranks) override { records_.creation_by(ranks); }
  [[gnu::cold]] group_progress* made(native_communicator group) override { return records_.add(group); }
  void given_back(group_progress* progress) override { records_.give_back(static_cast<group_record*>(progress)); }

  /// Returns the record for the creation of communicators of these ranks. Not collective.
  group_record& creation_by(native_communicator ranks) { return records_.creation_by(carrier::processes(ranks)); }

  [[nodiscard]] native_communicator comm() const { return group_->native(); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// True if several host threads of a rank may communicate at the same time. The same on all ranks, although MPI may
  /// report different levels to them.
  [[nodiscard]] bool is_thread_multiple() const { return is_thread_multiple_; }
  /// Returns the number of groups that exist.
  [[nodiscard]] int groups() const { return records_.count(); }

  /// Publishes the call that this thread is about to make, for ranks that will not take part, and report it.
  void announce(std::string const& text) const { window_.announce(text); }
  void announce(std::uint64_t fingerprint) const { window_.announce(fingerprint); }

  /// True if this rank can read the other ranks' pages. numbers_of reads one of them.
  [[nodiscard]] bool can_read() const { return window_.is_open(); }
  [[nodiscard]] progress_window::numbers numbers_of(int rank) const { return window_.numbers_of(rank); }
  /// Returns the description of a call of another rank's thread, from the numbers on the rank's page; empty if it is
  /// not known.
  [[nodiscard, gnu::cold]] std::string call_of(int rank, int slot, progress_window::numbers const& published) const {
    std::uint64_t const fingerprint = published.call[slot];
    bool const has_text = compared_ == compared_calls::all || fingerprint % 2 != 0;
    return has_text ? window_.text_of(rank, slot) : records_.words(fingerprint);
  }
  /// True if `entered`, from another rank's page, is a collective of a common group that this rank has not entered.
  [[nodiscard]] bool is_ahead(std::uint64_t entered) const { return records_.is_ahead(entered); }

  /// Keeps receives posted that show other ranks that this rank is in MPI.
  void answer_for_presence() { answers_.post(); }
  [[nodiscard]] native_communicator comm_of_presence() const { return answers_.comm(); }
  /// True if this monitor can tell that all ranks of the job wait. False with several host threads, since one thread of
  /// a rank may be in MPI while another computes. Of several monitors, only the first sees all operations.
  [[nodiscard]] bool sees_all() const { return sees_presence_ && this == first_ && find_place_in_job().ranks == size_; }
  /// Returns the state of the ranks of the job, from their pages, for a rank that waits for the missing ones.
  [[nodiscard]] detail::standstill probe_all(dynamic_array<int> const& missing) const;
  /// Publishes whether this rank asks the others if they are in MPI.
  void publish_query(bool asks) const { window_.mine().asks.store(asks ? 1 : 0, std::memory_order_release); }

  /// While an object of this class exists, this rank publishes that it waits to learn the calls of others.
  class waiting {
   public:
    waiting() { count(); }
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() { count(); }

   private:
    static void count() {
      if (!first_->sees_presence_) return;
      auto& waits = first_->window_.mine().waits;
      waits.store(waits.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
  };

  /// Waits until all ranks of all monitors have called it, and ends the job if one of them waits for this rank. Call it
  /// when this rank will enter no more collectives. Afterwards the monitors observe nothing.
  static void leave();

  /// Waits until all ranks of the job have called it, and ends the job if one of them waits for this rank in an
  /// operation. Collective. `what` names the thing that ends: `a trace`. @pre no other host thread of this rank is in
  /// an operation
  static void meet(communicator const& job, char const* what);

 private:
  explicit peer_monitor(native_communicator theirs);
  ~peer_monitor() = default;
  void leave_with_mpi();
  template <class Done>
  static void wait_until(Done const& done, char const* ending);
  void probe_some(char const* ending);
  void probe(int other, char const* ending) const;
  void close();

  carrier::group* group_ = nullptr;  // null once the monitor is closed
  int rank_ = 0;
  int size_ = 1;
  bool is_thread_multiple_ = false;  // the same on all ranks, like the next
  bool sees_presence_ = false;
  progress_window window_;
  group_records records_;
  detail::presence_answers answers_;
  int probed_ = 0;
  control::request leaving_;
  peer_monitor* next_ = nullptr;
  // Never destroyed: communicators may outlive main.
  [[gnu::visibility("default")]] inline static peer_monitor* first_ = nullptr;
};

inline peer_monitor* peer_monitor::over(native_communicator ranks) {
  carrier::processes const theirs(ranks);
  if (theirs.size() == 1) return nullptr;
  // All members of `ranks` took part in creating each monitor that covers them, in this order, so they choose the same
  // one.
  peer_monitor** end = &first_;
  for (; *end != nullptr; end = &(*end)->next_)
    if ((*end)->group_ != nullptr && !theirs.numbers_in((*end)->group_->members()).contains(-1)) return *end;
  auto* const made = new peer_monitor(ranks);
  *end = made;
  return made;
}

[[gnu::cold]] inline peer_monitor::peer_monitor(native_communicator theirs)
    : group_(new carrier::group(carrier::group::duplicate_of(theirs))), rank_(group_->rank()), size_(group_->size()) {
  // The ranks agree on both, since the variable may be set on some nodes only, and threads requested on some ranks
  // only.
  std::int32_t wanted[2] = {static_cast<std::int32_t>(calls_to_compare()), mpi_is_thread_multiple() ? 1 : 0};
  group_->all_reduce(wanted, 2, reduction::max);
  compared_ = static_cast<compared_calls>(wanted[0]);
  is_thread_multiple_ = wanted[1] != 0;

  window_.open(comm());
  // The ranks agree, since some may have no window.
  if (compared_ == compared_calls::all) {
    std::int32_t able = window_.is_open() && !is_thread_multiple_ ? 1 : 0;
    group_->all_reduce(&able, 1, reduction::min);
    sees_presence_ = able != 0;
    if (sees_presence_) answers_.begin(comm());
  }
  group_->barrier();
  records_.begin(*this, comm(), window_.mine().last, compared_, is_thread_multiple_);
  creation_by(comm());
  if (first_ == nullptr) leave_with_mpi();
}

inline void peer_monitor::leave_with_mpi() {
  if (sees_presence_) {
    window_.mine().uses.store(use_of_mpi.user.load() != nullptr ? 1 : 0);  // this may be made within an operation
    use_of_mpi.shared_count = &window_.mine().uses;
  }
  call_at_end_of_mpi(&leave);
}

[[gnu::cold]] inline void peer_monitor::leave() {
  for (peer_monitor* m = first_; m != nullptr; m = m->next_) {
    m->probed_ = m->rank_;
    if (m->group_ != nullptr) control::barrier(m->comm(), m->leaving_);
  }
  peer_monitor* m = first_;
  wait_until(
      [&m] {
        for (; m != nullptr; m = m->next_)
          if (!m->leaving_.test()) return false;
        return true;
      },
      "MPI");
  for (m = first_; m != nullptr; m = m->next_) m->close();
}

[[gnu::cold]] inline void peer_monitor::meet(communicator const& job, char const* what) {
  control::request all_are_here;
  control::barrier(job.native(), all_are_here);
  wait_until([&] { return all_are_here.test(); }, what);
  job.carried()->barrier();  // no rank continues, and is ahead, while another still probes
}

template <class Done>
[[gnu::cold]] void peer_monitor::wait_until(Done const& done, char const* ending) {
  double next = this_thread::seconds() + 0.1;  // by then most ranks have arrived
  for (int pause = 1; !done(); pause = std::min(2 * pause, 1000)) {
    this_thread::sleep(pause);
    if (this_thread::seconds() < next) continue;
    next = this_thread::seconds() + 0.1;
    for (peer_monitor* each = first_; each != nullptr; each = each->next_) each->probe_some(ending);
  }
}

// Probes a few ranks at a time: if many wait for this rank, one of them is enough.
[[gnu::cold]] inline void peer_monitor::probe_some(char const* ending) {
  for (int n = std::min(size_, 64); window_.is_open() && n > 0; --n) {
    probed_ = (probed_ + 1) % size_;
    if (probed_ != rank_) probe(probed_, ending);
  }
}

// Ends the job if the other rank waits for this one, which will enter no more collectives.
[[gnu::cold]] inline void peer_monitor::probe(int other, char const* ending) const {
  progress_window::numbers const before = window_.numbers_of(other);
  int slot = 0;
  while (slot < progress_window::slots && !records_.is_ahead(before.last[slot])) ++slot;
  if (slot == progress_window::slots) return;
  if (window_.numbers_of(other).last[slot] != before.last[slot]) return;  // it moves: probe again later
  std::string const text = call_of(other, slot, before);
  end_job(join_text(this_rank(), " ends ", ending, ", but rank ", detail::number_in_world(comm(), other),
                    " waits for it in ",
                    text.empty() ? std::string("an operation (OSTRAKA_CHECK_SPMD=1 tells which)") : text,
                    "; every rank takes part in its operations before it ends ",
                    std::string_view(ending) == "MPI" ? "the environment" : ending));
}

[[gnu::cold]] inline detail::standstill peer_monitor::probe_all(dynamic_array<int> const& missing) const {
  detail::standstill seen;
  auto const mix = [&seen](std::uint64_t n) { seen.movement = (seen.movement ^ n) * 1099511628211u; };
  for (int r = 0; r < size_; ++r) {
    progress_window::numbers const of = window_.numbers_of(r);
    for (std::uint64_t const n : of.last) mix(n);
    mix(of.uses);
    mix(of.waits);
    bool const in_operation = of.uses % 2 != 0, waits = of.waits % 2 != 0;
    if (in_operation && !waits) seen.possible = false;  // it communicates, however long that takes
    if (waits && missing.contains(r)) seen.possible = false;  // ranks that wait for the same rank will report it
    if (r < rank_ && of.asks != 0) seen.another_asks = true;
  }
  return seen;
}

inline void peer_monitor::close() {
  if (use_of_mpi.shared_count == &window_.mine().uses) use_of_mpi.shared_count = nullptr;
  compared_ = compared_calls::none;
  sees_presence_ = false;
  answers_.end();
  window_.close();
  records_.publish_to(window_.mine().last);
  delete std::exchange(group_, nullptr);
}

}  // namespace ostraka::engine

#endif
