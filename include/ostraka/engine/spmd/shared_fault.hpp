// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Shares an exception among members of a group that work on each other's messages, like the stages of a
/// pipeline. If one member stopped at an exception, the others would wait for its messages for ever. So it continues to
/// send the messages that they expect, without working, and at the end all members throw its error. If no member
/// throws, the cost is a message of one number between a few members.
///
///     shared_fault fault(members);
///     for each turn:
///       messages.arrive(fault.waiting());
///       fault.attempt([&] { made = work(arrived); });      not called again once it has thrown here
///       if (fault.is_here()) made = zeros;
///       messages.send(to, made, count);
///     fault.end("pipeline", "stage");                      all members throw, or none

#include <algorithm>
#include <exception>
#include <string>

#include <ostraka/engine/carriers/control.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/engine/spmd/end_job.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Seconds for which a member that has thrown waits for others before it ends the job: they may themselves wait for it,
/// in an operation of a group in which it alone has thrown. Tests lower it.
[[gnu::visibility("default")]] inline double patience_after_fault = 30;

/// The fault of the members of one group. They construct it at the same time.
class shared_fault {
 public:
  explicit shared_fault(communicator const& members)
      : members_(members), is_shared_(OSTRAKA_ENABLE_MPI && members.size() > 1 && !members.is_dry()) {}

  /// True if the work of this member has thrown.
  [[nodiscard]] bool is_here() const { return is_here_; }

  /// Calls f, and keeps its exception. Does nothing after an earlier exception.
  template <class F>
  void attempt(F const& f) {
    if (!is_shared_) return f();
    if (is_here_) return;
    try {
      f();
    } catch (std::exception const& e) {
      keep(e.what());
    } catch (...) {
      keep("an exception that is no std::exception");
    }
  }

  /// Returns the function for `relay::arrive` that waits for messages.
  [[nodiscard]] auto waiting() {
    return [this](auto& some) {
      if (is_here_)
        wait_until([&] { return some.test(); });
      else
        some.wait();
    };
  }

  /// Collective. @throws ostraka::error, the same on all members, if the work of a member has thrown
  void end([[maybe_unused]] char const* operation, [[maybe_unused]] char const* member) {
#if OSTRAKA_ENABLE_MPI
    if (!is_shared_) return;
    members_.enter();
    int const first = find_first();
    if (first < members_.size()) rethrow_fault(first, operation, member);
#endif
  }

 private:
  [[gnu::cold]] void keep(char const* why) {
    why_ = why;
    is_here_ = true;
  }

  template <class Done>
  [[gnu::cold]] void wait_until([[maybe_unused]] Done const& done) const {
#if OSTRAKA_ENABLE_MPI
    double const end = this_thread::seconds() + patience_after_fault;
    while (!done()) {
      if (this_thread::seconds() > end)
        end_job(join_text(this_rank(), " threw an exception (", why_,
                          ") that not all devices with the same work threw; the job ends, since they wait for it"));
      this_thread::sleep(200);
    }
#endif
  }

#if OSTRAKA_ENABLE_MPI
  // Returns the first member whose work has thrown, or the number of members if none has. Each member sends the first
  // one that it knows of to the members 1, 2, 4, … places further on.
  [[nodiscard]] int find_first() const {
    int const n = members_.size(), me = members_.rank(), tag = members_.next_tag();
    int first = is_here_ ? me : n;
    for (int step = 1; step < n; step *= 2) {
      int received = n;
      control::request receiving, sending;
      control::receive(members_.native(), (me + n - step) % n, tag, &received, sizeof(received), receiving);
      control::send(members_.native(), (me + step) % n, tag, &first, sizeof(first), sending);
      if (is_here_) wait_until([&] { return receiving.test() && sending.test(); });
      receiving.wait();
      sending.wait();
      first = std::min(first, received);
    }
    return first;
  }

  [[noreturn, gnu::cold]] void rethrow_fault(int first, char const* operation, char const* member) {
    std::size_t length = why_.size();
    control::broadcast(members_.native(), &length, sizeof(length), first);
    why_.resize(length);
    control::broadcast(members_.native(), why_.data(), length, first);
    throw_error(operation, ": an exception of one ", member, " is thrown on all, and ", member, ' ', first, " of ",
                members_.size(), " threw: ", why_);
  }
#endif

  communicator members_;
  bool is_shared_;
  bool is_here_ = false;
  std::string why_;
};

}  // namespace ostraka::engine
