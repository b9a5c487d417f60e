// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The seam of communication with a back end other than MPI: ranks are host threads (thread_carrier.hpp). The test
/// compares each collective's calls of its carrier, one by one, with lists written by hand, and the data that arrives
/// with plain loops.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/collectives/barrier.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/collectives/gather.hpp>
#include <ostraka/engine/collectives/permute_in_flight.hpp>
#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>
#include <ostraka/engine/collectives/scan.hpp>
#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/groups/communicator.hpp>

namespace {

using namespace ostraka::engine;
using ostraka::testing::asked;
using ostraka::testing::thread_job;
using all_asked = std::vector<std::vector<asked>>;

struct lowered_limit {
  std::int64_t before = chunk_limit;
  explicit lowered_limit(std::int64_t lower) { chunk_limit = lower; }
  ~lowered_limit() { chunk_limit = before; }
};

// Element i of member d.
float value(int d, std::int64_t i) { return static_cast<float>(100 * d + static_cast<int>(i)); }

std::vector<float> values(int d, std::int64_t count) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(value(d, i));
  return v;
}

// The outcome of f(group of all, result of this rank) on so many ranks, each with its result.
struct outcome {
  std::vector<std::vector<float>> of_rank;
  all_asked calls;
};
template <class F>
outcome on(int ranks, F const& f) {
  outcome o;
  o.of_rank.resize(static_cast<std::size_t>(ranks));
  o.calls =
      thread_job::run(ranks, [&](int rank) { f(communicator::world(), o.of_rank[static_cast<std::size_t>(rank)]); });
  return o;
}

}  // namespace

TEST_CASE("an all-gather of equal parts is one call, and of uneven ones another, in place") {
  for (bool even : {true, false}) {
    std::vector<std::int64_t> const counts = {2, 2, even ? 2 : 0};
    outcome const o = on(3, [&](communicator const& all, std::vector<float>& got) {
      got.resize(even ? 6 : 4);
      all_gather(all, values(all.rank(), 2).data(), got.data(), counts);
    });
    std::vector<float> expected = {0, 1, 100, 101};
    if (even) expected.insert(expected.end(), {200, 201});
    for (int r = 0; r < 3; ++r) {
      CHECK(o.of_rank[r] == expected);
      std::int64_t const bytes = 4 * counts[static_cast<std::size_t>(r)];
      CHECK(o.calls[r] == std::vector<asked>{{even ? "all_gather" : "all_gather in place", -1, bytes}});
    }
  }
}

TEST_CASE("two members of an all-gather send each other a message") {
  outcome const o = on(2, [&](communicator const& all, std::vector<float>& got) {
    got.resize(5);
    all_gather(all, values(all.rank(), all.rank() == 0 ? 2 : 3).data(), got.data(), std::vector<std::int64_t>{2, 3});
  });
  CHECK(o.of_rank[0] == std::vector<float>{0, 1, 100, 101, 102});
  CHECK(o.of_rank[1] == o.of_rank[0]);
  CHECK(o.calls[0] == std::vector<asked>{{"receive", 1, 12}, {"send", 1, 8}});
  CHECK(o.calls[1] == std::vector<asked>{{"receive", 0, 8}, {"send", 0, 12}});
}

TEST_CASE("an all-gather in flight goes from each to each, and what is empty does not travel") {
  std::vector<std::int64_t> const counts = {1, 0, 3, 2};
  outcome const o = on(4, [&](communicator const& all, std::vector<float>& got) {
    got.resize(6);
    std::vector<float> const own = values(all.rank(), counts[static_cast<std::size_t>(all.rank())]);
    all_gather_in_flight<float> gather;
    gather.begin(all, own.data(), got.data(), counts, mpi_calls::nonblocking);
    while (!gather.test()) std::this_thread::yield();
    gather.finish();
  });
  for (auto const& got : o.of_rank) CHECK(got == std::vector<float>{0, 200, 201, 202, 300, 301});
  CHECK(o.calls[0] ==
        std::vector<asked>{{"receive", 3, 8}, {"send", 1, 4}, {"receive", 2, 12}, {"send", 2, 4}, {"send", 3, 4}});
  CHECK(o.calls[1] == std::vector<asked>{{"receive", 0, 4}, {"receive", 3, 8}, {"receive", 2, 12}});
  CHECK(o.calls[2] ==
        std::vector<asked>{{"send", 3, 12}, {"receive", 0, 4}, {"send", 0, 12}, {"receive", 3, 8}, {"send", 1, 12}});
  CHECK(o.calls[3] ==
        std::vector<asked>{{"receive", 2, 12}, {"send", 0, 8}, {"send", 1, 8}, {"receive", 0, 4}, {"send", 2, 8}});
}

TEST_CASE("longer messages than a call takes are cut") {
  lowered_limit const limit(3);
  outcome const o = on(2, [&](communicator const& all, std::vector<float>& got) {
    got.resize(7);
    permute_in_flight<float> step;
    std::vector<float> const own = values(all.rank(), 7);
    step.begin(all, {1 - all.rank(), 1 - all.rank()}, {own.data(), 7, got.data(), 7});
    step.finish();
    CHECK(all.sent().messages == 3);
    CHECK(all.sent().bytes == 28);
  });
  CHECK(o.of_rank[0] == values(1, 7));
  CHECK(o.of_rank[1] == values(0, 7));
  CHECK(
      o.calls[0] ==
      std::vector<asked>{
          {"receive", 1, 12}, {"receive", 1, 12}, {"receive", 1, 4}, {"send", 1, 12}, {"send", 1, 12}, {"send", 1, 4}});
}

TEST_CASE("a reduce-scatter adds in the order of members, and asks for messages alone") {
  // 1e8 + 1 - 1e8 is 0 in float; in the order 1e8 - 1e8 + 1 it is 1.
  float const summands[3] = {1e8f, 1.0f, -1e8f};
  outcome const o = on(3, [&](communicator const& all, std::vector<float>& got) {
    got.resize(2);
    std::vector<float> const own(6, summands[all.rank()]);
    reduce_scatter(all, own.data(), got.data(), std::vector<std::int64_t>{2, 2, 2}, ostraka::reduction::sum);
  });
  for (int r = 0; r < 3; ++r) {
    CHECK(o.of_rank[r] == std::vector<float>{0, 0});
    int const before = (r + 2) % 3, after = (r + 1) % 3;
    CHECK(o.calls[r] ==
          std::vector<asked>{{"receive", before, 8}, {"send", after, 8}, {"receive", after, 8}, {"send", before, 8}});
  }
}

TEST_CASE("an all-reduce is the carrier's where it reduces such elements, else ours") {
  for (ostraka::reduction const how : {ostraka::reduction::sum, ostraka::reduction::max}) {
    outcome const o = on(3, [&](communicator const& all, std::vector<float>& got) {
      got = values(all.rank(), 4);
      all_reduce(all, got.data(), 4, how);
    });
    bool const sum = how == ostraka::reduction::sum;
    for (int r = 0; r < 3; ++r)
      CHECK(o.of_rank[r] == (sum ? std::vector<float>{300, 303, 306, 309} : std::vector<float>{200, 201, 202, 203}));
    if (sum) {
      for (auto const& calls : o.calls) CHECK(calls == std::vector<asked>{{"all_reduce", -1, 16}});
    } else {  // parts of 1, 1 and 2 elements
      CHECK(o.calls[0] ==
            std::vector<asked>{
                {"receive", 2, 4}, {"send", 1, 4}, {"receive", 1, 4}, {"send", 2, 8}, {"all_gather in place", -1, 4}});
      CHECK(o.calls[2] ==
            std::vector<asked>{
                {"receive", 1, 8}, {"send", 0, 4}, {"receive", 0, 8}, {"send", 1, 4}, {"all_gather in place", -1, 8}});
    }
  }
}

TEST_CASE("an exchange gives the carrier a block where it lies") {
  // Rows of 2 out of 3, in 2 columns of a matrix of 3 × 4.
  strided const block = strided{}.add(3, 4).add(2, 1);
  outcome const o = on(2, [&](communicator const& all, std::vector<float>& got) {
    std::vector<float> const own = values(all.rank(), 12);
    got.assign(12, -1);
    int const other = 1 - all.rank();
    exchanged<float> parts[2]{};
    parts[other] = {own.data() + 2 * other, 6, got.data() + 2 * all.rank(), 6, &block, &block};
    exchange(all, parts, [] {});
  });
  for (int r = 0; r < 2; ++r) {
    std::vector<float> expected(12, -1);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        expected[static_cast<std::size_t>(4 * i + j + 2 * r)] = value(1 - r, 4 * i + j + 2 * r);
    CHECK(o.of_rank[r] == expected);
    CHECK(o.calls[r] == std::vector<asked>{{"receive block", 1 - r, 24}, {"send block", 1 - r, 24}});
  }
}

TEST_CASE("gather, scatter, broadcast, counts, scan and barrier") {
  std::vector<std::int64_t> const counts = {1, 3, 0};
  outcome const o = on(3, [&](communicator const& all, std::vector<float>& got) {
    int const me = all.rank();
    std::size_t const mine = static_cast<std::size_t>(counts[static_cast<std::size_t>(me)]);
    std::vector<float> whole(4, -1), back(mine), one(1, value(me, 0));
    gather(all, values(me, counts[static_cast<std::size_t>(me)]).data(), whole.data(), counts, 1);
    if (me == 1) CHECK(whole == std::vector<float>{0, 100, 101, 102});
    scatter(all, whole.data(), back.data(), counts, 1);
    CHECK(back == values(me, counts[static_cast<std::size_t>(me)]));
    broadcast(all, one.data(), 1, 2);
    CHECK(one[0] == 200);
    std::int64_t sent[3], received[3];
    for (int d = 0; d < 3; ++d) sent[d] = 10 * me + d;
    exchange_counts(all, sent, received);
    for (int d = 0; d < 3; ++d) CHECK(received[d] == 10 * d + me);
    one[0] = value(me, 1);
    scan(all, one.data(), 1, ostraka::reduction::sum);
    barrier(all);
    got = one;
  });
  CHECK(o.of_rank == std::vector<std::vector<float>>{{1}, {102}, {303}});
  CHECK(o.calls[1] == std::vector<asked>{{"gather", 1, 12},
                                         {"scatter", 1, 12},
                                         {"broadcast", 2, 4},
                                         {"all_to_all", -1, 8},
                                         {"receive", 0, 4},
                                         {"send", 2, 4},
                                         {"barrier", -1, 0}});
}

TEST_CASE("several collectives are in flight on one group, and are finished in another order") {
  outcome const o = on(4, [&](communicator const& all, std::vector<float>& got) {
    int const me = all.rank();
    std::vector<float> own = values(me, 5), gathered(20), sums = values(me, 5), given = values(me, 5);
    std::vector<float> share(2), pieces(64);
    all_gather_in_flight<float> gather;
    all_reduce_in_flight<float> reduce;
    broadcast_in_flight<float> broadcast;
    gather.begin(all, own.data(), gathered.data(), counts_view::even(5, 4), mpi_calls::nonblocking);
    reduce.begin(all, sums.data(), 5, ostraka::reduction::max, share.data(), pieces.data(), mpi_calls::nonblocking);
    broadcast.begin(all, given.data(), 5, 3, mpi_calls::nonblocking);
    broadcast.finish();
    reduce.finish();
    gather.finish();
    got = gathered;
    got.insert(got.end(), sums.begin(), sums.end());
    got.insert(got.end(), given.begin(), given.end());
  });
  std::vector<float> expected;
  for (int d : {0, 1, 2, 3, 3, 3})
    for (int i = 0; i < 5; ++i) expected.push_back(value(d, i));
  for (auto const& got : o.of_rank) CHECK(got == expected);
}

TEST_CASE("groups are made of groups, and their messages do not meet") {
  on(4, [&](communicator const& all, std::vector<float>&) {
    int const me = all.rank();
    communicator const half = all.split(me % 2, -me);  // {2, 0} and {3, 1}
    CHECK(half.size() == 2);
    CHECK(half.rank() == (me < 2 ? 1 : 0));
    auto const numbers = half.numbers_in(all);
    CHECK(numbers[0] == me % 2 + 2);
    CHECK(numbers[1] == me % 2);
    CHECK(all.numbers_in(half)[static_cast<std::size_t>((me + 1) % 4)] == -1);
    std::int64_t largest[2] = {me, -me};
    half.find_largest(largest, 2);
    CHECK(largest[0] == me % 2 + 2);
    CHECK(largest[1] == -(me % 2));
    if (me == 0) return;
    communicator const rest = all.part({3, 1, 2});
    CHECK(rest.rank() == (me == 3 ? 0 : me));
    std::int64_t received[3], sent = me;
    gather_counts(rest, &sent, received);
    CHECK(received[0] == 3);
    CHECK(received[1] == 1);
    CHECK(received[2] == 2);
    CHECK(rest.duplicate().size() == 3);
  });
}
