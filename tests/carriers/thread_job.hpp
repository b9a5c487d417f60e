// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A job whose ranks are host threads of one process: messages are copies that wait in a table, and the calls of each
/// rank to its carrier are recorded. None of it is fast.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace ostraka::testing {

/// One call of a rank to its carrier: `send`, to member 2, 12 bytes.
struct asked {
  std::string what;
  int member = -1;
  std::int64_t bytes = 0;
  friend bool operator==(asked const&, asked const&) = default;
};

/// The ranks of a job and the messages in flight between them.
class thread_job {
 public:
  using bytes = std::vector<std::byte>;
  using mailbox = std::tuple<int, int, int, int>;  // group, from, to, tag

  /// Calls f(rank) on so many threads at once. @returns the calls of each to its carrier
  template <class F>
  static std::vector<std::vector<asked>> run(int ranks, F const& f) {
    thread_job job(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([&job, &f, r] {
        here() = {&job, r};
        f(r);
        here() = {};
      });
    for (std::thread& t : threads) t.join();
    if (job.left() > 0) std::abort();  // all sent messages are received
    return job.asked_;
  }

  /// The calling thread's place.
  struct place {
    thread_job* job = nullptr;
    int rank = 0;
  };
  static place& here() {
    static thread_local place p;
    return p;
  }

  [[nodiscard]] int ranks() const { return static_cast<int>(asked_.size()); }
  void record(asked a) { asked_[static_cast<std::size_t>(here().rank)].push_back(std::move(a)); }

  void put(mailbox const& at, bytes message) {
    std::lock_guard const alone(lock_);
    messages& box = under_way_[at];
    box.arrived[box.sent++] = std::move(message);
    arrived_.notify_all();
  }
  /// The number of the message that the next receive gets: receives have the order of sends.
  int number_of_next(mailbox const& at) {
    std::lock_guard const alone(lock_);
    return under_way_[at].awaited++;
  }
  /// False if it has not arrived and the caller does not wait.
  bool take(mailbox const& at, int number, bytes& message, bool waits) {
    std::unique_lock alone(lock_);
    messages& box = under_way_[at];
    if (waits) arrived_.wait(alone, [&] { return box.arrived.contains(number); });
    auto const found = box.arrived.find(number);
    if (found == box.arrived.end()) return false;
    message = std::move(found->second);
    box.arrived.erase(found);
    return true;
  }
  /// The number of messages that no rank has received.
  [[nodiscard]] std::size_t left() const {
    std::size_t n = 0;
    for (auto const& [at, box] : under_way_) n += box.arrived.size();
    return n;
  }

  /// The number of a group: equal on its members, and different for each `occasion` on which the same ranks make one.
  int group_number(int of, std::vector<int> const& members, int occasion) {
    std::lock_guard const alone(lock_);
    return groups_.try_emplace({of, members, occasion}, static_cast<int>(groups_.size()) + 1).first->second;
  }

 private:
  explicit thread_job(int ranks) : asked_(static_cast<std::size_t>(ranks)) {}

  std::mutex lock_;
  std::condition_variable arrived_;
  struct messages {
    std::map<int, bytes> arrived;
    int sent = 0;
    int awaited = 0;
  };
  std::map<mailbox, messages> under_way_;
  std::map<std::tuple<int, std::vector<int>, int>, int> groups_;
  std::vector<std::vector<asked>> asked_;
};

}  // namespace ostraka::testing
