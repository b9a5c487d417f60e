// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// An observer is notified of each communicator that is made and freed, and reads how many collectives it has entered.
/// It does not see a program's own copies of a communicator.
// ranks: 1 2 4
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include <ostraka/engine/groups/communicator.hpp>

#if OSTRAKA_ENABLE_MPI

namespace {

using namespace ostraka::engine;

/// Counts its notifications.
struct counting_observer final : group_observer {
  int created = 0, foreseen = 0, alive = 0;
  std::atomic<std::uint64_t> published[thread_slot::number_of]{};

  void creates(carrier::processes const&, bool) override { ++created; }
  void may_create(carrier::processes const&) override { ++foreseen; }
  group_progress* made(MPI_Comm group) override {
    ++alive;
    auto* const progress = new group_progress;
    progress->published = published;
    progress->id = static_cast<std::uint64_t>(size_of(group)) << 24;
    return progress;
  }
  void given_back(group_progress* progress) override {
    --alive;
    delete progress;
  }
};
inline counting_observer an_observer;

}  // namespace

TEST_CASE("an observer is notified of groups, and reads how many collectives they have entered") {
  auto* const before = std::exchange(find_group_observer, [](MPI_Comm ranks) -> group_observer* {
    return size_of(ranks) > 1 ? &an_observer : nullptr;
  });
  {
    communicator const world = communicator::world();
    int const devices = world.size();
    CHECK(an_observer.created == (devices > 1 ? 1 : 0));
    CHECK(an_observer.alive == (devices > 1 ? 1 : 0));
    CHECK((world.progress() != nullptr) == (devices > 1));
    CHECK_FALSE(world.compares_calls());

    std::int64_t largest = world.rank();
    world.find_largest(&largest, 1);
    world.find_largest(&largest, 1);
    CHECK(largest == devices - 1);
    if (devices > 1) {
      CHECK(world.progress()->count == 2);
      CHECK(an_observer.published[thread_slot::of_this_thread()] ==
            (static_cast<std::uint64_t>(devices) << 24 | std::uint64_t{2}));
    }

    ostraka::dynamic_array<int> all;
    for (int d = 0; d < devices; ++d) all.push_back(d);
    world.expect_part(all);
    communicator const part = world.part(all);
    communicator const theirs = world.duplicate();  // the program's, which shows nothing of ours
    CHECK(an_observer.foreseen == (devices > 1 ? 1 : 0));
    CHECK(an_observer.created == (devices > 1 ? 2 : 0));
    CHECK(an_observer.alive == (devices > 1 ? 2 : 0));
    CHECK(theirs.progress() == nullptr);
  }
  CHECK(an_observer.alive == 0);
  find_group_observer = before;
}

TEST_CASE("a thread that goes on with a group takes away the count of the one before") {
  std::atomic<std::uint64_t> published[thread_slot::number_of]{};
  group_progress progress;
  progress.published = published;
  progress.id = std::uint64_t{5} << 24;
  int const mine = thread_slot::of_this_thread();
  int other = -1;
  auto const in_a_thread = [&] {
    std::thread([&] {
      other = thread_slot::of_this_thread();
      progress.enter();
    }).join();
  };
  in_a_thread();
  CHECK(other != mine);
  CHECK(published[other] == (progress.id | 1));
  progress.enter();
  CHECK(published[mine] == (progress.id | 2));
  CHECK(published[other] == 0);
  in_a_thread();
  published[other] = std::uint64_t{6} << 24 | 1;  // of another group, which stays
  progress.enter();
  CHECK(published[other] == (std::uint64_t{6} << 24 | 1));
}

#endif
