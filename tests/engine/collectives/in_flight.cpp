// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Collectives in flight on one group, several at once: begun in one order, tested as they come, and finished in
/// another. Each gives the result of plain loops over the members; long ones take several steps, which do not match
/// messages of others.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/collectives/permute_in_flight.hpp>
#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>
#include <ostraka/engine/collectives/scatter.hpp>

namespace {

using namespace ostraka::engine;

struct lowered_limit {
  std::int64_t before = chunk_limit;
  explicit lowered_limit(std::int64_t lower) { chunk_limit = lower; }
  ~lowered_limit() { chunk_limit = before; }
};

// The element of member d at i: a small whole number.
template <class T>
T value(int d, std::int64_t i) {
  return T(static_cast<float>((17 * d + 7 * i) % 23) - 11.f);
}

template <class T>
std::vector<T> values(int d, std::int64_t count) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(value<T>(d, i));
  return all;
}

template <class T>
T reduced(int n, std::int64_t i, reduction how) {
  T all = value<T>(0, i);
  for (int d = 1; d < n; ++d) {
    T const x = value<T>(d, i);
    if (how == reduction::sum) all = T(all + x);
    if constexpr (is_ordered<T>)
      if (how == reduction::max && x > all) all = x;
  }
  return all;
}

// All collectives of arrays of some length, each with its buffers.
template <class T>
struct all_collectives {
  communicator const& members;
  int n = members.size(), me = members.rank();
  std::int64_t count;
  reduction how;
  std::vector<std::int64_t> counts;
  std::vector<T> own, gathered, summed, scattered, pieces[2], share, whole, given, shifted;
  all_gather_in_flight<T> gather;
  all_reduce_in_flight<T> reduce;
  reduce_scatter_in_flight<T> scatter;
  broadcast_in_flight<T> broadcast;
  permute_in_flight<T> shift;

  all_collectives(communicator const& group, std::int64_t length, reduction kind)
      : members(group), count(length), how(kind) {
    for (int d = 0; d < n; ++d) counts.push_back(count + d % 3);
    std::int64_t total = 0;
    for (std::int64_t c : counts) total += c;
    std::int64_t const mine = counts[static_cast<std::size_t>(me)];
    own = values<T>(me, mine);
    gathered.resize(static_cast<std::size_t>(total));
    summed = values<T>(me, count);
    whole = values<T>(me, total);
    scattered.resize(static_cast<std::size_t>(mine));
    auto const longest = *std::max_element(counts.begin(), counts.end());
    pieces[0].resize(static_cast<std::size_t>(scatter.pieces_of(members, mine, longest, mpi_calls::nonblocking)));
    auto const part = share_of_all_reduce(members, count);
    share.resize(static_cast<std::size_t>(part));
    pieces[1].resize(static_cast<std::size_t>(scatter.pieces_of(members, part, part, mpi_calls::nonblocking)));
    given = values<T>(me, count);
    shifted.resize(static_cast<std::size_t>(count));
  }

  void begin() {
    gather.begin(members, own.data(), gathered.data(), counts, mpi_calls::nonblocking);
    scatter.begin(members, whole.data(), scattered.data(), counts, pieces[0].data(), how, {}, parts_sent::all,
                  mpi_calls::nonblocking);
    reduce.begin(members, summed.data(), count, how, share.data(), pieces[1].data(), mpi_calls::nonblocking);
    broadcast.begin(members, given.data(), count, n - 1, mpi_calls::nonblocking);
    hops_here const here = permutation_view::by(1).of(me, n);
    shift.begin(members, here, {own.data(), count, shifted.data(), count});
  }

  bool test() {
    bool const arrived[] = {shift.test(), gather.test(), reduce.test(), broadcast.test(), scatter.test()};
    return std::count(std::begin(arrived), std::end(arrived), true) == 5;
  }

  void finish() {
    shift.finish();
    broadcast.finish();
    reduce.finish();
    scatter.finish();
    gather.finish();
  }

  void check() {
    std::vector<T> expected;
    for (int d = 0; d < n; ++d)
      for (T x : values<T>(d, counts[static_cast<std::size_t>(d)])) expected.push_back(x);
    CHECK(gathered == expected);
    std::int64_t before = 0, wrong = 0;
    for (int d = 0; d < me; ++d) before += counts[static_cast<std::size_t>(d)];
    for (std::size_t i = 0; i < scattered.size(); ++i)
      wrong += scattered[i] == reduced<T>(n, before + static_cast<std::int64_t>(i), how) ? 0 : 1;
    for (std::int64_t i = 0; i < count; ++i)
      wrong += summed[static_cast<std::size_t>(i)] == reduced<T>(n, i, how) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(given == values<T>(n - 1, count));
    if (n > 1) CHECK(shifted == values<T>((me + n - 1) % n, count));
  }
};

}  // namespace

TEST_CASE_TEMPLATE("several collectives in flight", T, float, double, Kokkos::complex<double>, std::int64_t,
                   ostraka::float16) {
  communicator const world = communicator::world();
  for (std::int64_t chunk : {std::int64_t{1} << 30, std::int64_t{9}}) {
    lowered_limit const lowered(chunk);
    for (std::int64_t count : {0, 1, 40, 40000}) {
      if (count / chunk > 1000) continue;
      for (reduction how : {reduction::sum, reduction::max}) {
        if (!is_reducible<T>(how)) continue;
        INFO(count, " elements, ", world.size(), " devices, in chunks of ", chunk);
        all_collectives<T> one(world, count, how), other(world, count + 3, how);
        one.begin();
        other.begin();
        static_cast<void>(other.test());
        other.finish();
        other.check();
        while (!one.test()) {
        }
        one.finish();
        one.check();
      }
    }
  }
}

TEST_CASE("counts") {
  communicator const world = communicator::world();
  int const n = world.size(), me = world.rank();
  std::vector<std::int64_t> sent, received(static_cast<std::size_t>(2 * n)), expected,
      all(static_cast<std::size_t>(2 * n));
  for (int d = 0; d < n; ++d) {
    sent.insert(sent.end(), {100 * me + d, -d});
    expected.insert(expected.end(), {100 * d + me, -me});
  }
  exchange_counts(world, sent.data(), received.data(), 2);
  CHECK(received == expected);
  std::int64_t const mine[] = {me, 7};
  gather_counts(world, mine, all.data(), 2);
  for (int d = 0; d < n; ++d) {
    CHECK(all[static_cast<std::size_t>(2 * d)] == d);
    CHECK(all[static_cast<std::size_t>(2 * d + 1)] == 7);
  }
}
