// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. In check mode, finds out whether a rank that others wait for computes, or is in an MPI call of the
/// program's own, such as MPI_Barrier. A waiting rank asks with messages that only a rank inside MPI answers
/// (presence.hpp). If all ranks of the job answer every message for five seconds, and meanwhile no rank enters or
/// leaves an Ostraka operation, or communicates in one, then all of them wait. A rank can answer only a few times,
/// since it cannot post receives in MPI_Barrier; so one rank of the job asks all.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstdint>

#  include <ostraka/engine/carriers/control.hpp>
#  include <ostraka/engine/machine/this_thread.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine::detail {

/// The questions of one waiting rank, and their answers.
class presence_questions {
 public:
  static constexpr int enough = 20;  // rounds

  explicit presence_questions(peer_monitor const& over) : monitor_(over), next_(this_thread::seconds() + 0.5) {}
  presence_questions(presence_questions const&) = delete;
  presence_questions& operator=(presence_questions const&) = delete;
  [[gnu::cold]] ~presence_questions() {
    stop();
    for (control::request& r : open_) r.leave();
  }

  /// Asks the next round when it is due; the waiting rank polls it. @returns whether all ranks have answered the last
  /// rounds
  [[gnu::cold]] bool all_wait(dynamic_array<int> const& missing) {
    double const now = this_thread::seconds();
    if (now < next_) return false;
    if (!open_.empty()) {  // a round is over
      bool const answered = all_have_answered();
      if (!answered) stop();
      next_ = now + (answered ? patience() / enough : 0.02);
      if (answered) open_.clear();  // otherwise keep this round, however long a rank computes
      return false;
    }
    if (rounds_ >= 2 && !nothing_moves(missing, now)) return false;
    if (rounds_ == enough) return true;
    ++rounds_;
    if (rounds_ <= 2)  // missing ranks first: most ranks that others wait for compute
      for (int const m : missing) ask(m);
    else
      ask_all();
    next_ = now + 0.02;  // a rank in MPI answers soon; one that computes and calls MPI now and then may not
    return false;
  }

  /// Lets other ranks ask.
  void stop() {
    rounds_ = 0;
    publish(false);
  }

 private:
  // All ranks are asked only after nothing has moved for half the patience, so that no question is wasted, and as long
  // as nothing moves.
  bool nothing_moves(dynamic_array<int> const& missing, double now) {
    standstill const seen = monitor_.probe_all(missing);
    publish(seen.possible);
    if (!seen.possible || seen.another_asks || seen.movement != seen_) {
      rounds_ = 2;
      since_ = now;
      seen_ = seen.movement;
    } else if (rounds_ > 2 || now - since_ >= patience() / 2) {
      return true;
    }
    next_ = now + patience() / enough;
    return false;
  }
  void publish(bool asks) {
    if (asks != asks_) monitor_.publish_query(asks_ = asks);
  }
  void ask(int rank) {
    control::request r;
    control::send(monitor_.comm_of_presence(), rank, 0, nullptr, 0, r, control::send_ends::received);
    open_.push_back(r);
  }
  void ask_all() {
    for (int r = 0; r < monitor_.size(); ++r)
      if (r != monitor_.rank()) ask(r);
  }
  bool all_have_answered() {
    bool all = true;
    for (control::request& r : open_) all = r.test() && all;
    return all;
  }

  peer_monitor const& monitor_;
  double next_;
  int rounds_ = 0;     // rounds that all have answered in time
  bool asks_ = false;  // as published to the other ranks
  std::uint64_t seen_ = 0;
  double since_ = 0;
  dynamic_array<control::request> open_;
};

}  // namespace ostraka::engine::detail

#endif
