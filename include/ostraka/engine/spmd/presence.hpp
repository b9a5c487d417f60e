// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. In check mode, a rank answers other ranks while it is in any call of MPI. A header cannot intercept the
/// program's MPI calls. But a synchronous message to a receive that was posted earlier completes once the receiver is
/// in a call of MPI, and not while it computes or sleeps. So every rank keeps receives posted, and the ranks that wait
/// for it send such messages (presence_questions.hpp).

#include <cstddef>
#include <cstdlib>

#include <ostraka/engine/carriers/control.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

#if OSTRAKA_ENABLE_MPI

namespace ostraka::engine::detail {

/// Returns the time in seconds for which all ranks must have been in MPI: OSTRAKA_CHECK_PATIENCE, or 5.
inline double patience() {
  char const* const setting = std::getenv("OSTRAKA_CHECK_PATIENCE");
  double const seconds = setting ? std::atof(setting) : 0;
  return seconds > 0 ? seconds : 5;
}

/// The receives that answer for this rank, on a communicator of their own. The rank posts completed receives again, at
/// most once a second, when it compares its calls, and while it waits for the calls of others.
class presence_answers {
 public:
  void begin(native_communicator ranks) {
    comm_ = control::open(ranks);
    requests_.assign(most, {});
    post();
  }
  void post() {
    if (requests_.empty() || this_thread::seconds() < next_) return;
    next_ = this_thread::seconds() + 1;
    for (control::request& r : requests_)
      if (r.test()) control::receive(comm_, control::any_member, 0, nullptr, 0, r);
  }
  void end() {
    if (requests_.empty()) return;
    for (control::request& r : requests_) r.cancel();
    requests_.clear();
    control::close(comm_);
  }

  native_communicator comm() const { return comm_; }

 private:
  static constexpr std::size_t most = 64;  // enough for three ranks that ask all, one after another
  native_communicator comm_ = no_communicator();
  double next_ = 0;
  dynamic_array<control::request> requests_;
};

}  // namespace ostraka::engine::detail

#endif
