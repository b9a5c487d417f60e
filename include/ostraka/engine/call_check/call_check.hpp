// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks that all ranks make the same call. In check mode (OSTRAKA_CHECK_SPMD) the members of a group, before
/// they communicate, send each other a description of the call that they are about to make, and wait for that of every
/// member. Otherwise they do so the first time, unless OSTRAKA_CHECK_SPMD is 0. The call of another member, and the
/// outcome:
///
///     another operation of this group                 ostraka::error, the same on all members: the job can go on
///     an operation of another group, which waits      the job ends, naming both: ranks that wait elsewhere cannot
///     for this rank                                   throw
///     it waits in a ring: 0 in X for 1, 1 in Y for    the job ends, naming all of the ring
///     3, 3 in X for 0
///     it has ended MPI                                the job ends: peer_monitor.hpp
///     an MPI call of the program's own, where all     the job ends: presence_questions.hpp
///     other ranks wait as well
///     an operation that is no longer compared         the job ends, naming both: passed_members.hpp
///     it computes                                     this rank waits for it
///
/// Groups that make different calls without waiting for each other are never compared. Where several host threads may
/// call MPI at once, a rank that is in another call may have a second thread that makes this one. The members of a
/// group are then compared on the group's own communicator, and the cases of the second, third and fifth line are
/// ignored.

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/types/support/join_text.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <algorithm>
#  include <atomic>
#  include <cstddef>
#  include <cstdint>
#  include <string>
#  include <vector>

#  include <ostraka/engine/call_check/control_messages.hpp>
#  include <ostraka/engine/call_check/passed_members.hpp>
#  include <ostraka/engine/call_check/presence_questions.hpp>
#  include <ostraka/engine/machine/this_thread.hpp>
#  include <ostraka/engine/spmd/end_job.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>
#  include <ostraka/types/support/error.hpp>

namespace ostraka::engine::detail {

/// One call check, from the first message until the calls of all members are known.
class call_check {
 public:
  [[gnu::cold]] call_check(group_record const& group, native_communicator own, std::string const& text)
      : monitor_(*group.monitor),
        passed_(group),
        channel_(group, own),
        text_(text),
        own_(call_record::packed(group, text)),
        records_(channel_.members.size()),
        missing_(channel_.members) {}

  [[gnu::cold]] ~call_check() = default;

  [[gnu::visibility("default"), gnu::cold]] void run() {
    static std::atomic<std::uint64_t> waits{0};
    occasion_ = ++waits << 20;
    arrived(me(), own_);
    for (int other : missing_)
      new pending_send(channel_.comm, other, control_message::record, own_, passed_.is_possible());
    wait();
    pending_send::tidy();
    for (; passed_.is_possible() && pending_send::any_unanswered(); pending_send::tidy()) this_thread::yield();
    for (std::string const& r : records_)
      if (r != own_) throw error(difference());
  }

 private:
  [[gnu::cold]] void wait() {
    double ask = this_thread::seconds() + 0.2, look = this_thread::seconds() + 0.05, pause = 0.5;
    presence_questions questions(monitor_);
    for (int idle = 0; !missing_.empty();) {
      idle = listen() ? 0 : idle + 1;
      if (idle < 200) continue;
      this_thread::yield();
      if (passed_.is_possible() && this_thread::seconds() > look) {
        look = this_thread::seconds() + 0.05;
        passed_.probe([&](std::size_t m) { return records_[m].empty(); }, text_);
      }
      if (!channel_.of_all_groups) continue;
      answer();
      monitor_.answer_for_presence();
      probe_presence(questions);
      if (this_thread::seconds() < ask) continue;
      ask = this_thread::seconds() + pause;
      if (passed_.is_possible() && pause < 30) pause *= 2;  // a late rank leaves the questions unread
      answered_.clear();
      ++occasion_;
      forward_chain({me(), me(), occasion_, {}});
    }
  }

  // The first member that is here asks on behalf of all of them.
  [[gnu::cold]] void probe_presence(presence_questions& questions) {
    if (!monitor_.sees_all()) return;
    for (std::size_t m = 0; channel_.members[m] != me(); ++m)
      if (!records_[m].empty()) return questions.stop();
    if (!questions.all_wait(missing_)) return;
    dynamic_array<int> here;
    for (int const m : channel_.members)
      if (!missing_.contains(m)) here.push_back(m);
    end_job(join_text(
        ranks(missing_), missing_.size() == 1 ? " is in a call" : " are in calls",
        " of MPI that is not Ostraka's, while ", ranks(here), here.size() == 1 ? " waits in " : " wait in ", text_,
        ", and for seconds no rank has gone on: they wait for each other; ranks that share operations call these, and "
        "MPI_Barrier, in the same order"));
  }

  [[gnu::cold]] bool listen() {
    bool received = false;
    for (std::size_t i = 0; i < missing_.size();) {
      int from = missing_[i];
      if (!has_control_message(channel_.comm, from, control_message::record)) {
        ++i;
        continue;
      }
      std::string const record = receive_control_message(channel_.comm, from, control_message::record);
      if (!call_record::same_members(record, own_))
        end_job(join_text(this_rank(), " calls ", text_, ", which needs ", rank(from), ", but ", rank(from), " calls ",
                          call_record::text(record), ", which needs ", rank(me()),
                          ": they would wait for each other; ranks that share operations call them in the same order"));
      arrived(from, record);
      received = true;
    }
    return received;
  }

  [[gnu::cold]] void arrived(int from, std::string const& record) {
    dynamic_array<int> const& members = channel_.members;
    records_[static_cast<std::size_t>(members.find(from) - members.begin())] = record;
    missing_.erase(missing_.find(from));
  }

  // Forwards the questions of the ranks that wait for this one: each has sent a record, and this rank does not wait for
  // it. If a ring closes, all its ranks have waited since the question passed them, and will wait for ever (Chandy,
  // Misra, Haas 1983).
  [[gnu::cold]] void answer() {
    for (int from = control::any_member; has_control_message(channel_.comm, from, control_message::question);
         from = control::any_member) {
      chain q = chain::unpacked(receive_control_message(channel_.comm, from, control_message::question));
      listen();
      if (missing_.empty()) return;
      bool const awaited = missing_.contains(from);
      if (awaited || !has_control_message(channel_.comm, from, control_message::record)) continue;
      if (q.asker == me()) {
        complete_chain(q);
      } else if (!answered_.contains(q.asker) && q.text.size() < 3000) {
        answered_.push_back(q.asker);
        q.lowest = std::min(q.lowest, me());
        forward_chain(q);
      }
    }
  }

  [[gnu::cold]] void forward_chain(chain const& q) const {
    for (int other : missing_) {
      chain longer = q;
      append_text(longer.text, q.text.empty() ? "" : "; ", rank(me()), " waits for ", rank(other), " in ", text_);
      new pending_send(channel_.comm, other, control_message::question, longer.packed());
    }
  }

  [[gnu::cold]] void complete_chain(chain const& q) {
    if (q.occasion >> 20 != occasion_ >> 20 || q.lowest != me()) return;  // an earlier wait, or another rank reports
    // The question must come back twice in a row, in case a record was slower than a question.
    if (q.occasion == ring_occasion_ + 1 && q.text == ring_)
      end_job(join_text(q.text, ": they wait for each other; ranks that share operations call them in the same order"));
    ring_ = q.text;
    ring_occasion_ = q.occasion;
  }

  [[nodiscard]] int me() const { return channel_.me; }
  [[nodiscard]] int name(int member) const { return number_in_world(channel_.comm, member); }
  [[nodiscard, gnu::cold]] std::string rank(int member) const { return join_text("rank ", name(member)); }

  [[nodiscard, gnu::cold]] std::string ranks(dynamic_array<int> const& members) const {
    std::string text = members.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < members.size(); ++i)
      append_text(text, i == 0 ? "" : i + 1 == members.size() ? " and " : ", ", name(members[i]));
    return text;
  }

  /// Returns the same words on every member.
  [[nodiscard, gnu::cold]] std::string difference() const {
    std::string const first = call_record::text(records_.front());
    std::string text = join_text(first.substr(0, first.find(' ')),
                                 ": all ranks call the same operations in the same order with the same sizes, but ");
    for (std::size_t m = 0; m < records_.size(); ++m) {
      if (records_.find(records_[m]) != records_.begin() + m) continue;  // already described
      dynamic_array<int> alike;
      bool another_mesh = false;
      for (std::size_t other = 0; other < records_.size(); ++other) {
        if (records_[other] == records_[m]) alike.push_back(channel_.members[other]);
        another_mesh = another_mesh || (records_[other] != records_[m] &&
                                        call_record::text(records_[other]) == call_record::text(records_[m]));
      }
      text += m == 0 ? "" : "; ";
      append_text(text, ranks(alike), alike.size() == 1 ? " calls " : " call ", call_record::text(records_[m]));
      if (another_mesh) append_text(text, " on the mesh made as number ", call_record::number(records_[m]));
    }
    return join_text(text, "; compute sizes and branches from values that all ranks share");
  }

  peer_monitor& monitor_;
  passed_members passed_;
  control_channel const channel_;
  std::string const& text_;
  std::string const own_;
  dynamic_array<std::string> records_;  // by member
  dynamic_array<int> missing_;
  dynamic_array<int> answered_;   // ranks that have asked since this one asked last
  std::uint64_t occasion_ = 0;  // number of this wait times 2^20, plus the number of its questions
  std::string ring_;            // the last question that came back
  std::uint64_t ring_occasion_ = 0;
};

}  // namespace ostraka::engine::detail

#endif
