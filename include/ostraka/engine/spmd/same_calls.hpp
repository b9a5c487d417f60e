// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Do all ranks call the same? In check mode (OSTRAKA_CHECK_SPMD) the members of a group tell each other what
/// they are about to do, in words, before they communicate, and wait until they know it of all:
///
///   all members in operations of this group, not the same      ostraka::error, the same on all of them: the job can go
///   on a member in an operation of another group that waits for   the job ends, naming both: those who wait elsewhere
///   cannot throw this rank, which waits for it ranks that wait for each other in a ring                   the job
///   ends, naming all: 0 in X for 1, 1 in Y for 3, 3 in X for 2, … a member that has ended MPI the job ends:
///   engine/spmd/peer_monitor.hpp a member in an MPI call of the program's own, where all    the job ends:
///   engine/spmd/presence.hpp other ranks wait as well a member that computes                                     is
///   waited for
///
/// Groups that go different ways without needing each other are never compared. Where MPI serves several host threads
/// at once, a rank that calls something else may have a thread that calls the same: then the members of a group are
/// compared on its own communicator, and what others do is not looked at (the first row and the last two).

#include <string>

#include <ostraka/engine/collectives/communicator.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/types/error.hpp>

#if OSTRAKA_ENABLE_MPI
#  include <algorithm>
#  include <atomic>
#  include <cstdint>
#  include <cstring>
#  include <vector>
#endif

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

namespace detail {

/// What a rank is about to do, as it travels: fingerprint of the group's members, which of the groups of these members,
/// and the words.
struct call_record {
  [[gnu::cold]] static std::string packed(group_progress const& group, std::string const& text) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &group.ranks, 8);
    std::memcpy(bytes.data() + 8, &group.number, 8);
    return bytes + text;
  }
  static bool same_members(std::string const& a, std::string const& b) { return a.compare(0, 8, b, 0, 8) == 0; }
  static std::uint64_t number(std::string const& bytes) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes.data() + 8, 8);
    return n;
  }
  static std::string text(std::string const& bytes) { return bytes.substr(16); }
};

/// A question that follows those who wait: does the chain that begins at `asker` come back to it?
struct chain {
  std::int32_t asker = 0;
  std::int32_t lowest = 0;     ///< number of a rank on the way
  std::uint64_t occasion = 0;  ///< of the asker: which wait, which asking
  std::string text;

  [[nodiscard, gnu::cold]] std::string packed() const {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &asker, 4);
    std::memcpy(bytes.data() + 4, &lowest, 4);
    std::memcpy(bytes.data() + 8, &occasion, 8);
    return bytes + text;
  }
  [[gnu::cold]] static chain unpacked(std::string const& bytes) {
    chain c;
    std::memcpy(&c.asker, bytes.data(), 4);
    std::memcpy(&c.lowest, bytes.data() + 4, 4);
    std::memcpy(&c.occasion, bytes.data() + 8, 8);
    c.text = bytes.substr(16);
    return c;
  }
};

/// Tags, apart from those of the collectives.
enum class control_message { record = 32766, question = 32767 };

/// Where the members of a group tell each other: as the monitor numbers them, among the messages of all groups, of
/// which each tells who waits for whom; or, where several host threads may wait at once, on the group's communicator.
struct control_channel {
  MPI_Comm comm = MPI_COMM_NULL;
  int me = 0;
  dynamic_array<int> members;  // in the order of the group
  bool of_all_groups = true;

  control_channel(group_progress const& group, MPI_Comm own) : of_all_groups(!mpi_serves_threads_at_once()) {
    if (of_all_groups) {
      comm = group.over->comm();
      me = group.over->rank();
      members = *group.members;
      return;
    }
    comm = own;
    MPI_Comm_rank(comm, &me);
    members.resize(group.members->size());
    for (std::size_t m = 0; m < members.size(); ++m) members[m] = static_cast<int>(m);
  }
};

/// Messages that are nobody's business but ours: MPI's profiling names, so that tools that count a program's messages
/// count the program's. They stay until they have arrived.
class pending_send {
 public:
  pending_send(MPI_Comm comm, int to, control_message kind, std::string const& bytes) : bytes_(bytes) {
    PMPI_Isend(bytes_.data(), static_cast<int>(bytes_.size()), MPI_BYTE, to, static_cast<int>(kind), comm, &request_);
    next_ = first_;
    first_ = this;
  }

  /// Forgets those that have arrived.
  [[gnu::cold]] static void tidy() {
    for (pending_send** o = &first_; *o != nullptr;) {
      int arrived = 0;
      PMPI_Test(&(*o)->request_, &arrived, MPI_STATUS_IGNORE);
      if (arrived) {
        pending_send* const done = *o;
        *o = done->next_;
        delete done;
      } else {
        o = &(*o)->next_;
      }
    }
  }

 private:
  std::string bytes_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  pending_send* next_ = nullptr;
  inline static thread_local constinit pending_send* first_ = nullptr;  // never freed before they have arrived
};

/// Is there any? Then `from`, which may be MPI_ANY_SOURCE, becomes its sender.
inline bool has_control_message(MPI_Comm comm, int& from, control_message kind) {
  int there = 0;
  MPI_Status status;
  PMPI_Iprobe(from, static_cast<int>(kind), comm, &there, &status);
  if (there) from = status.MPI_SOURCE;
  return there != 0;
}

/// @pre has_control_message
[[gnu::cold]] inline std::string receive_control_message(MPI_Comm comm, int from, control_message kind) {
  MPI_Status status;
  int length = 0;
  PMPI_Probe(from, static_cast<int>(kind), comm, &status);
  PMPI_Get_count(&status, MPI_BYTE, &length);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  PMPI_Recv(bytes.data(), length, MPI_BYTE, from, static_cast<int>(kind), comm, MPI_STATUS_IGNORE);
  return bytes;
}

/// One call check, from the first message until all members are known.
class call_check {
 public:
  call_check(group_progress const& group, MPI_Comm own, std::string const& text)
      : monitor_(*group.over),
        channel_(group, own),
        text_(text),
        own_(call_record::packed(group, text)),
        said_(channel_.members.size()),
        missing_(channel_.members) {}

  [[gnu::cold]] void run() {
    static std::atomic<std::uint64_t> waits{0};
    occasion_ = ++waits << 20;
    arrived(me(), own_);
    for (int other : missing_) new pending_send(channel_.comm, other, control_message::record, own_);
    wait();
    pending_send::tidy();
    for (std::string const& r : said_)
      if (r != own_) throw error(difference());
  }

 private:
  [[gnu::cold]] void wait() {
    double ask = MPI_Wtime() + 0.2;
    presence_questions questions(monitor_);
    for (int idle = 0; !missing_.empty();) {
      idle = listen() ? 0 : idle + 1;
      if (idle < 200) continue;
      this_thread::yield();
      if (!channel_.of_all_groups) continue;
      answer();
      monitor_.answer_for_presence();
      probe_presence(questions);
      if (MPI_Wtime() < ask) continue;
      ask = MPI_Wtime() + 0.5;
      answered_.clear();
      ++occasion_;
      pass_on({me(), me(), occasion_, {}});
    }
  }

  // One of those who are here asks for all of them.
  [[gnu::cold]] void probe_presence(presence_questions<peer_monitor>& questions) {
    if (!monitor_.sees_all()) return;
    for (std::size_t m = 0; channel_.members[m] != me(); ++m)
      if (!said_[m].empty()) return questions.stop();
    if (!questions.all_wait(missing_)) return;
    dynamic_array<int> here;
    for (int const m : channel_.members)
      if (!missing_.contains(m)) here.push_back(m);
    end_job(
        ranks(missing_) + (missing_.size() == 1 ? " is in a call" : " are in calls") +
        " of MPI that is not Ostraka's, while " + ranks(here) + (here.size() == 1 ? " waits in " : " wait in ") +
        text_ +
        ", and for seconds no rank has gone on: they wait for each other; ranks that share operations call these, and MPI_Barrier, in the same order");
  }

  [[gnu::cold]] bool listen() {
    bool heard = false;
    for (std::size_t i = 0; i < missing_.size();) {
      int from = missing_[i];
      if (!has_control_message(channel_.comm, from, control_message::record)) {
        ++i;
        continue;
      }
      std::string const record = receive_control_message(channel_.comm, from, control_message::record);
      if (!call_record::same_members(record, own_))
        end_job(this_rank() + " calls " + text_ + ", which needs " + rank(from) + ", but " + rank(from) + " calls " +
                call_record::text(record) + ", which needs " + rank(me()) +
                ": they would wait for each other; ranks that share operations call them in the same order");
      arrived(from, record);
      heard = true;
    }
    return heard;
  }

  [[gnu::cold]] void arrived(int from, std::string const& record) {
    dynamic_array<int> const& members = channel_.members;
    said_[static_cast<std::size_t>(members.find(from) - members.begin())] = record;
    missing_.erase(missing_.find(from));
  }

  // Hands on the questions of those who wait for this rank: they have sent a record, and it is none of those that this
  // rank waits for. All on a ring that closes have waited since the question passed them, and will for ever (Chandy,
  // Misra, Haas 1983).
  [[gnu::cold]] void answer() {
    for (int from = MPI_ANY_SOURCE; has_control_message(channel_.comm, from, control_message::question);
         from = MPI_ANY_SOURCE) {
      chain q = chain::unpacked(receive_control_message(channel_.comm, from, control_message::question));
      listen();
      if (missing_.empty()) return;
      bool const awaited = missing_.contains(from);
      if (awaited || !has_control_message(channel_.comm, from, control_message::record)) continue;
      if (q.asker == me()) {
        came_back(q);
      } else if (!answered_.contains(q.asker) && q.text.size() < 3000) {
        answered_.push_back(q.asker);
        q.lowest = std::min(q.lowest, me());
        pass_on(q);
      }
    }
  }

  [[gnu::cold]] void pass_on(chain const& q) const {
    for (int other : missing_) {
      chain longer = q;
      longer.text += (q.text.empty() ? "" : "; ") + rank(me()) + " waits for " + rank(other) + " in " + text_;
      new pending_send(channel_.comm, other, control_message::question, longer.packed());
    }
  }

  [[gnu::cold]] void came_back(chain const& q) {
    if (q.occasion >> 20 != occasion_ >> 20 || q.lowest != me()) return;  // another wait, or another's to tell
    // Twice in a row, in case that a record was under way longer than a question.
    if (q.occasion == ring_occasion_ + 1 && q.text == ring_)
      end_job(q.text + ": they wait for each other; ranks that share operations call them in the same order");
    ring_ = q.text;
    ring_occasion_ = q.occasion;
  }

  [[nodiscard]] int me() const { return channel_.me; }
  [[nodiscard]] int name(int member) const { return number_in_world(channel_.comm, member); }
  [[nodiscard, gnu::cold]] std::string rank(int member) const { return "rank " + std::to_string(name(member)); }

  [[nodiscard, gnu::cold]] std::string ranks(dynamic_array<int> const& members) const {
    std::string text = members.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < members.size(); ++i)
      text += (i == 0 ? "" : i + 1 == members.size() ? " and " : ", ") + std::to_string(name(members[i]));
    return text;
  }

  /// The same words on every member.
  [[nodiscard, gnu::cold]] std::string difference() const {
    std::string const first = call_record::text(said_.front());
    std::string text = first.substr(0, first.find(' ')) +
                       ": all ranks call the same operations in the same order with the same sizes, but ";
    for (std::size_t m = 0; m < said_.size(); ++m) {
      if (std::find(said_.begin(), said_.begin() + static_cast<std::ptrdiff_t>(m), said_[m]) !=
          said_.begin() + static_cast<std::ptrdiff_t>(m))
        continue;  // told
      dynamic_array<int> alike;
      bool another_mesh = false;
      for (std::size_t other = 0; other < said_.size(); ++other) {
        if (said_[other] == said_[m]) alike.push_back(channel_.members[other]);
        another_mesh = another_mesh ||
                       (said_[other] != said_[m] && call_record::text(said_[other]) == call_record::text(said_[m]));
      }
      text += m == 0 ? "" : "; ";
      text += ranks(alike) + (alike.size() == 1 ? " calls " : " call ") + call_record::text(said_[m]);
      if (another_mesh) text += " on the mesh made as number " + std::to_string(call_record::number(said_[m]));
    }
    return text + "; compute sizes and branches from values that all ranks share";
  }

  peer_monitor& monitor_;
  control_channel const channel_;
  std::string const& text_;
  std::string const own_;
  std::vector<std::string> said_;  // by member
  dynamic_array<int> missing_;
  dynamic_array<int> answered_;   // askers, since this rank asked last
  std::uint64_t occasion_ = 0;  // this wait, times 2^20, and how often it has asked
  std::string ring_;            // what came back last
  std::uint64_t ring_occasion_ = 0;
};

[[gnu::cold]] inline void compare(group_progress& group, MPI_Comm own, std::string const& text) {
  group.over->announce(text);
  group.enter();
  group.over->answer_for_presence();
  peer_monitor::waiting const it_waits;
  call_check(group, own, text).run();
}

}  // namespace detail

/// In check mode, before the group communicates: throws unless all its members are about to do what `describe()` says.
/// Collective over the group in check mode; otherwise the cost of asking. @throws ostraka::error, the same on all
/// members, if they are in different operations
template <class Describe>
void require_agreement(communicator const& group, Describe const& describe) {
  if (group_progress* const progress = group.progress(); progress && progress->over->compares())
    detail::compare(*progress, group.native(), describe());
}

/// The same before a communicator is made of these ranks.
inline void require_agreement_to_create(char const* what, native_communicator ranks = MPI_COMM_WORLD) {
  if (peer_monitor* const over = peer_monitor::over(ranks); over && over->compares() && !mpi_serves_threads_at_once())
    detail::compare(*over->creations_by(ranks), ranks, what);
}

#else

template <class Describe>
void require_agreement(communicator const&, Describe const&) {}
inline void require_agreement_to_create(char const*, native_communicator = {}) {}

#endif

}  // namespace ostraka::engine
