// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Who has left while others wait for him. Every rank keeps, where the others can read it without its help (an
/// MPI window), the number of the collective that each of its host threads entered last: one store per collective. A
/// rank that is about to end MPI waits until all are, and meanwhile reads: a collective that it should have joined and
/// never will is an error, is said, and ends the job. Nothing is timed out: a rank that is merely slow has entered
/// nothing. Ranks are numbers in MPI_COMM_WORLD, as launchers print them. docs/design/spmd-safety.md tells what is
/// found when.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/spmd/end_job.hpp>
#include <ostraka/engine/spmd/presence.hpp>

namespace ostraka::engine {

/// Was the program built without NDEBUG?
inline bool is_debug_build = false;

/// Says so. For what is compiled with the program alone: a library of the engine may have been built otherwise.
inline void tell_build() {
#ifndef NDEBUG
  is_debug_build = true;
#endif
}

/// Should ranks compare operations before they communicate? OSTRAKA_CHECK_SPMD=1 or 0 says so; else: not in release
/// builds.
inline bool wants_call_checks() {
  if (char const* const said = std::getenv("OSTRAKA_CHECK_SPMD"); said && *said) return std::strcmp(said, "0") != 0;
  return is_debug_build;
}

#if OSTRAKA_ENABLE_MPI

class peer_monitor;

namespace detail {

/// The ranks of a communicator as MPI's group, for as long as it is looked at.
struct ranks_of {
  MPI_Group group = MPI_GROUP_NULL;
  explicit ranks_of(MPI_Comm comm) { MPI_Comm_group(comm, &group); }
  ranks_of(ranks_of const&) = delete;
  ranks_of& operator=(ranks_of const&) = delete;
  ~ranks_of() { MPI_Group_free(&group); }
};

// A member's number in MPI_COMM_WORLD.
inline int number_in_world(MPI_Comm comm, int member) {
  int name = member;
  MPI_Group_translate_ranks(ranks_of(comm).group, 1, &member, ranks_of(MPI_COMM_WORLD).group, &name);
  return name;
}

}  // namespace detail

/// Where a host thread keeps what others read of it. Threads beyond their number share the last.
class monitor_slot {
 public:
  static constexpr int number_of = 8;

  static int of_this_thread() {
    static thread_local constinit monitor_slot* slot = nullptr;
    return per_thread(slot).number_;
  }

  monitor_slot() {
    unsigned taken = taken_.load(std::memory_order_relaxed);
    do {
      number_ = 0;
      while (number_ < number_of - 1 && (taken >> number_ & 1u) != 0) ++number_;
    } while (!taken_.compare_exchange_weak(taken, taken | 1u << number_, std::memory_order_relaxed));
  }
  monitor_slot(monitor_slot const&) = delete;
  monitor_slot& operator=(monitor_slot const&) = delete;
  ~monitor_slot() { taken_.fetch_and(~(1u << number_), std::memory_order_relaxed); }

 private:
  int number_ = 0;
  inline static std::atomic<unsigned> taken_{0};
};

/// A group of ranks, and how many of its collectives this rank has entered.
struct group_progress {
  static constexpr std::uint64_t count_mask = 0xFFFFFF;

  peer_monitor* over = nullptr;
  dynamic_array<int> const* members =
      nullptr;  ///< in the monitor's numbering, in the order of the group; null unless ranks compare what they call
  std::uint64_t ranks = 0;                    ///< fingerprint of the members
  std::uint64_t number = 0;  ///< of the groups of these members, the number-th; 0: none, but the making of such groups
  std::uint64_t made = 0;                     ///< by number 0
  std::uint64_t id = 0;                       ///< of ranks and number, the bits of the count zero
  std::uint64_t count = 0;
  group_progress* next = nullptr;
  group_progress** at = nullptr;  ///< what points to it

  void enter();

  group_progress() = default;
  group_progress(group_progress const&) = delete;
  group_progress& operator=(group_progress const&) = delete;
  ~group_progress();
};

/// The ranks of a communicator, of which each can see what the others entered. Lives until MPI ends.
class peer_monitor {
 public:
  /// The first monitor that covers these ranks; made now if there is none. Null for one rank. Collective.
  static peer_monitor* over(MPI_Comm ranks);

  /// The progress of a group of its ranks, for whom they are to delete. Collective, in that the members count their
  /// groups alike.
  group_progress* next_group(MPI_Comm comm);
  /// The progress of the making of communicators of these ranks, which live as long as the process. Not collective.
  group_progress* creations_by(MPI_Comm comm) { return creations_by_group(detail::ranks_of(comm).group); }
  group_progress* creations_by_group(MPI_Group ranks);

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  /// A member's number in MPI_COMM_WORLD.
  int name_of(int member) const { return detail::number_in_world(comm_, member); }
  bool compares() const { return compares_; }
  /// Number of groups that are alive.
  int groups() const { return groups_; }

  /// What this rank is about to do, for those who find out that they will not take part.
  void announce(std::string const& text) {
    std::size_t const n = std::min(text.size(), text_bytes - 1);
    char* const mine = mine_->text[monitor_slot::of_this_thread()];
    std::memcpy(mine, text.data(), n);
    mine[n] = '\0';
  }

  /// Keeps the receives posted by which others see that this rank is in MPI.
  void answer_for_presence() { answers_.post(); }
  MPI_Comm comm_of_presence() const { return answers_.comm(); }
  /// Can it tell that all ranks of the job wait? A rank of several host threads may be in MPI by one of them, and
  /// compute by another; and of several monitors the first is told of all operations.
  bool sees_all() const {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return sees_presence_ && this == first_ && ranks == size_;
  }
  /// What the ranks of the job do, by what they have told, as one sees it who waits for those missing.
  detail::standstill probe_all(dynamic_array<int> const& missing) const;
  /// Says whether this rank asks the others if they are in MPI.
  void tell_that_it_asks(bool it_does) const { mine_->asks.store(it_does ? 1 : 0, std::memory_order_release); }

  /// That this rank waits to know what others call, for as long as this lives.
  class waiting {
   public:
    waiting() { tell(); }
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() { tell(); }

   private:
    static void tell() {
      if (!first_->sees_presence_) return;
      auto& waits = first_->mine_->waits;
      waits.store(waits.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
  };

  /// To be called when this rank will enter no collective any more. Returns when all ranks of all monitors have called
  /// it; ends the job if one of them waits for this one. Then the monitors are gone.
  static void leave();

 private:
  friend group_progress;
  static constexpr std::size_t text_bytes = 1000;
  struct page {
    std::atomic<std::uint64_t> last[monitor_slot::number_of];  // id and count of a group
    std::atomic<std::uint64_t> uses;   // beginnings and ends of operations: odd in one
    std::atomic<std::uint64_t> waits;  // the same of waiting for what others call, which is a part of an operation
    std::atomic<std::uint64_t> asks;   // 1 while this rank asks who is in MPI
    char text[monitor_slot::number_of][text_bytes];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);

  explicit peer_monitor(MPI_Comm theirs);
  static int on_finalize(MPI_Comm, int, void*, void*) {
    leave();
    return MPI_SUCCESS;
  }
  static bool covers(dynamic_array<int> const& members) { return !members.contains(MPI_UNDEFINED); }
  dynamic_array<int> members_in(MPI_Group ranks) const;
  group_progress* open(dynamic_array<int> const* members, std::uint64_t ranks, std::uint64_t number);
  bool waits_for_this_rank(std::uint64_t last) const;
  void probe_some();
  void probe(int other) const;
  void close();

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  page* mine_ = nullptr;
  page without_window_;
  int rank_ = 0;
  int size_ = 1;
  bool compares_ = false;
  bool sees_presence_ = false;  // all ranks alike
  group_progress* groups_alive_ = nullptr;  // of groups that are alive
  group_progress* creations_ = nullptr;     // one for each set of ranks that there was
  int groups_ = 0;
  struct farewell {
    std::uint64_t id = 0;
    std::uint64_t count = 0;
  };
  farewell gone_[256];  // the groups that this rank has let go of last, in which others may still wait for it
  unsigned gone_count_ = 0;
  std::atomic_flag changing_{};  // groups, creations and farewells: threads make and let go of meshes
  detail::presence_answers answers_;
  int probed_ = 0;
  MPI_Request leaving_ = MPI_REQUEST_NULL;
  peer_monitor* next_ = nullptr;
  inline static peer_monitor* first_ = nullptr;  // never destroyed: communicators may outlive main
};

inline peer_monitor* peer_monitor::over(MPI_Comm ranks) {
  int size = 1;
  MPI_Comm_size(ranks, &size);
  if (size == 1) return nullptr;
  // All members of `ranks` took part in making each monitor that covers them, in this order, so that they choose the
  // same.
  peer_monitor** end = &first_;
  for (; *end != nullptr; end = &(*end)->next_)
    if ((*end)->comm_ != MPI_COMM_NULL && covers((*end)->members_in(detail::ranks_of(ranks).group))) return *end;
  peer_monitor* const made = new peer_monitor(ranks);
  *end = made;
  return made;
}

inline peer_monitor::peer_monitor(MPI_Comm theirs) {
  MPI_Comm_dup(theirs, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);

  // Agreed, because the variable may have been set on some nodes only.
  int wanted = wants_call_checks() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_MAX, comm_);
  compares_ = wanted != 0;

  // Where there are no windows the monitor sees nothing, and the program runs as it would.
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  void* memory = nullptr;
  if (MPI_Win_allocate(sizeof(page), 1, MPI_INFO_NULL, comm_, &memory, &window_) != MPI_SUCCESS) window_ = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
  mine_ = window_ == MPI_WIN_NULL ? &without_window_ : new (memory) page;
  for (int s = 0; s < monitor_slot::number_of; ++s) {
    mine_->last[s].store(0);
    mine_->text[s][0] = '\0';
  }
  mine_->uses.store(0);
  mine_->waits.store(0);
  mine_->asks.store(0);
  if (window_ != MPI_WIN_NULL) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Win_sync(window_);
  }
  if (compares_) {  // agreed: ranks may differ in whether they got a window, and in the level of threads
    int able = window_ != MPI_WIN_NULL && !mpi_serves_threads_at_once() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, comm_);
    sees_presence_ = able != 0;
    if (sees_presence_) answers_.begin(comm_);
  }
  MPI_Barrier(comm_);
  creations_by(comm_);

  // MPI_Finalize, whoever calls it, begins with the attributes of MPI_COMM_SELF.
  if (first_ == nullptr) {
    if (sees_presence_) {
      mine_->uses.store(use_of_mpi.user.load() != nullptr ? 1 : 0);  // this may be made within an operation
      use_of_mpi.told = &mine_->uses;
    }
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &peer_monitor::on_finalize, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
  }
}

inline dynamic_array<int> peer_monitor::members_in(MPI_Group ranks) const {
  int size = 0;
  MPI_Group_size(ranks, &size);
  dynamic_array<int> numbers(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) numbers[static_cast<std::size_t>(r)] = r;
  dynamic_array<int> members(numbers.size());
  MPI_Group_translate_ranks(ranks, size, numbers.data(), detail::ranks_of(comm_).group, members.data());
  return members;
}

// Known by their fingerprint: a list of members for each group would grow with the job, and only those who compare
// calls need it.
inline group_progress* peer_monitor::creations_by_group(MPI_Group ranks) {
  dynamic_array<int> members = members_in(ranks);
  std::uint64_t fingerprint = 14695981039346656037u;  // FNV-1a
  for (int m : members) fingerprint = (fingerprint ^ static_cast<std::uint64_t>(m)) * 1099511628211u;
  fingerprint = (fingerprint ^ fingerprint >> 29) * 0xBF58476D1CE4E5B9u;
  short_lock const alone(changing_);
  for (group_progress* b = creations_; b != nullptr; b = b->next)
    if (b->ranks == fingerprint) return b;
  group_progress* const made = open(compares_ ? new dynamic_array<int>(std::move(members)) : nullptr, fingerprint, 0);
  made->next = creations_;
  return creations_ = made;
}

// Where threads may make groups of the same ranks at the same time, in no common order, the first member numbers them.
inline group_progress* peer_monitor::next_group(MPI_Comm comm) {
  group_progress& all = *creations_by(comm);
  auto number = [&] {
    short_lock const alone(changing_);
    return ++all.made;
  }();
  if (mpi_serves_threads_at_once()) PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, comm);
  short_lock const alone(changing_);
  group_progress* const made = open(all.members, all.ranks, number);
  made->next = groups_alive_;
  made->at = &groups_alive_;
  if (groups_alive_ != nullptr) groups_alive_->at = &made->next;
  groups_alive_ = made;
  ++groups_;
  return made;
}

inline group_progress* peer_monitor::open(dynamic_array<int> const* members, std::uint64_t ranks,
                                          std::uint64_t number) {
  auto* const made = new group_progress;
  made->over = this;
  made->members = members;
  made->ranks = ranks;
  made->number = number;
  made->id = (made->ranks ^ number * 0x9E3779B97F4A7C15u) & ~group_progress::count_mask;
  return made;
}

// Several threads may create groups: they enter one at a time. A group is its mesh's, which one thread uses.
inline void group_progress::enter() {
  auto const publish = [this] {
    over->mine_->last[monitor_slot::of_this_thread()].store(id | (++count & count_mask), std::memory_order_release);
  };
  if (number != 0) return publish();
  short_lock const alone(over->changing_);
  publish();
}

inline group_progress::~group_progress() {
  if (at == nullptr) return;
  short_lock const alone(over->changing_);
  *at = next;
  if (next != nullptr) next->at = at;
  --over->groups_;
  over->gone_[over->gone_count_++ % std::size(over->gone_)] = {id, count};
}

// Has who entered this collective of a group of mine entered one that I have not?
inline bool peer_monitor::waits_for_this_rank(std::uint64_t last) const {
  std::uint64_t const id = last & ~group_progress::count_mask;
  auto const is_ahead = [last](std::uint64_t count) {
    std::uint64_t const ahead = (last - count) & group_progress::count_mask;
    return ahead != 0 && ahead <= group_progress::count_mask / 2;
  };
  if (id == 0) return false;
  for (group_progress const* b = groups_alive_; b != nullptr; b = b->next)
    if (b->id == id) return is_ahead(b->count);
  for (group_progress const* b = creations_; b != nullptr; b = b->next)
    if (b->id == id) return is_ahead(b->count);
  for (farewell const& f : gone_)
    if (f.id == id) return is_ahead(f.count);
  return false;
}

[[gnu::cold]] inline void peer_monitor::probe(int other) const {
  auto const read = [&](void* to, std::size_t bytes, std::size_t at) {
    MPI_Get(to, static_cast<int>(bytes), MPI_BYTE, other, static_cast<MPI_Aint>(at), static_cast<int>(bytes), MPI_BYTE,
            window_);
    MPI_Win_flush(other, window_);
  };
  std::uint64_t last[monitor_slot::number_of]{};
  read(last, sizeof(last), offsetof(page, last));
  int slot = 0;
  while (slot < monitor_slot::number_of && !waits_for_this_rank(last[slot])) ++slot;
  if (slot == monitor_slot::number_of) return;
  std::uint64_t now[monitor_slot::number_of]{};
  read(now, sizeof(now), offsetof(page, last));
  if (now[slot] != last[slot]) return;  // it goes on: look again later
  char text[text_bytes]{};
  read(text, text_bytes, offsetof(page, text) + static_cast<std::size_t>(slot) * text_bytes);
  end_job(this_rank() + " ends MPI, but rank " + std::to_string(name_of(other)) + " waits for it in " +
          (text[0] ? text : "an operation (OSTRAKA_CHECK_SPMD=1 tells which)") +
          "; every rank takes part in its operations before it ends the environment");
}

[[gnu::cold]] inline void peer_monitor::leave() {
  for (peer_monitor* w = first_; w != nullptr; w = w->next_) {
    w->probed_ = w->rank_;
    if (w->comm_ != MPI_COMM_NULL) MPI_Ibarrier(w->comm_, &w->leaving_);
  }
  double look = MPI_Wtime() + 0.1;  // most jobs have ended by then
  int pause = 1;
  for (peer_monitor* w = first_; w != nullptr;) {
    int arrived = 0;
    MPI_Test(&w->leaving_, &arrived, MPI_STATUS_IGNORE);
    if (arrived) {
      w = w->next_;
      continue;
    }
    this_thread::sleep(pause);
    pause = std::min(2 * pause, 1000);
    if (MPI_Wtime() < look) continue;
    look = MPI_Wtime() + 0.1;
    for (peer_monitor* in = first_; in != nullptr; in = in->next_) in->probe_some();
  }
  for (peer_monitor* w = first_; w != nullptr; w = w->next_) w->close();
}

[[gnu::cold]] inline detail::standstill peer_monitor::probe_all(dynamic_array<int> const& missing) const {
  detail::standstill seen;
  for (int r = 0; r < size_; ++r) {
    struct {
      std::uint64_t last[monitor_slot::number_of], uses, waits, asks;
    } of{};
    static_assert(offsetof(page, last) == 0 && offsetof(page, asks) + sizeof(page::asks) == sizeof(of));
    MPI_Get(&of, sizeof(of), MPI_BYTE, r, 0, sizeof(of), MPI_BYTE, window_);
    MPI_Win_flush(r, window_);
    for (std::uint64_t const n : of.last) seen.movement = (seen.movement ^ n) * 1099511628211u;
    seen.movement = (seen.movement ^ of.uses) * 1099511628211u;
    seen.movement = (seen.movement ^ of.waits) * 1099511628211u;
    bool const in_operation = of.uses % 2 != 0, waits = of.waits % 2 != 0;
    if (in_operation && !waits) seen.possible = false;  // it communicates, however long that takes
    if (waits && missing.contains(r)) seen.possible = false;  // those who wait for whom it waits will tell
    if (r < rank_ && of.asks != 0) seen.another_asks = true;
  }
  return seen;
}

// A few at a time: where many wait for this one, any of them will tell.
[[gnu::cold]] inline void peer_monitor::probe_some() {
  for (int n = std::min(size_, 64); window_ != MPI_WIN_NULL && n > 0; --n) {
    probed_ = (probed_ + 1) % size_;
    if (probed_ != rank_) probe(probed_);
  }
}

inline void peer_monitor::close() {
  if (use_of_mpi.told == &mine_->uses) use_of_mpi.told = nullptr;
  mine_ = &without_window_;
  compares_ = false;
  sees_presence_ = false;
  answers_.end();
  if (window_ != MPI_WIN_NULL) {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

#endif

}  // namespace ostraka::engine
