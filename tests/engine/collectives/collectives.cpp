// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The collectives against a formula that every device can evaluate for all others: element i of device d. Even, uneven
/// and empty parts, every element type, and the chunked paths by lowering the limit.
// ranks: 1 2 3 4
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/collectives/gather.hpp>
#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>
#include <ostraka/engine/groups/communicator.hpp>

namespace {

using namespace ostraka::engine;

/// A lower limit for the length of a scope.
struct lowered_limit {
  std::int64_t before = chunk_limit;
  explicit lowered_limit(std::int64_t lower) { chunk_limit = lower; }
  ~lowered_limit() { chunk_limit = before; }
};

/// Element i that device d sends to device e: small integers, exact in every type.
template <class T>
T element(int d, int e, std::int64_t i) {
  int const v = static_cast<int>((17 * d + 31 * e + 7 * i) % 101) - 50;
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(v);
  else
    return T(static_cast<typename T::value_type>(v), static_cast<typename T::value_type>(d - i % 5));
}

/// Part sizes that are the same on all devices: empty, even, uneven, one device alone.
std::vector<std::vector<std::int64_t>> part_sizes(int devices) {
  std::size_t const n = static_cast<std::size_t>(devices);
  std::vector<std::vector<std::int64_t>> sizes = {std::vector<std::int64_t>(n, 0), std::vector<std::int64_t>(n, 1),
                                                  std::vector<std::int64_t>(n, 23)};
  std::vector<std::int64_t> uneven(n), one(n, 0), holes(n);
  for (std::size_t d = 0; d < n; ++d) {
    uneven[d] = static_cast<std::int64_t>(3 + 5 * d);
    holes[d] = d % 2 ? 0 : 12;
  }
  one[n - 1] = 40;
  sizes.insert(sizes.end(), {uneven, one, holes});
  return sizes;
}

std::int64_t sum_of(std::vector<std::int64_t> const& counts) {
  std::int64_t sum = 0;
  for (std::int64_t c : counts) sum += c;
  return sum;
}

template <class F>
void with_limits(F const& test) {
  for (std::int64_t chunk : {std::int64_t(1) << 30, std::int64_t(7), std::int64_t(1)}) {
    lowered_limit const lowered(chunk);
    CAPTURE(chunk);
    test();
  }
}

}  // namespace

#define ELEMENT_TYPES float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t, std::int64_t

TEST_CASE_TEMPLATE("all-gather and gather", T, ELEMENT_TYPES) {
  communicator const world = communicator::world();
  with_limits([&] {
    for (auto const& counts : part_sizes(world.size())) {
      std::vector<T> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]));
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = element<T>(world.rank(), 0, static_cast<std::int64_t>(i));
      std::vector<T> expected;
      for (int d = 0; d < world.size(); ++d)
        for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(d)]; ++i) expected.push_back(element<T>(d, 0, i));

      std::vector<T> all(expected.size(), T(-99));
      all_gather(world, mine.data(), all.data(), counts);
      CHECK(all == expected);

      int const root = world.size() - 1;
      std::vector<T> at_root(expected.size(), T(-99));
      gather(world, mine.data(), at_root.data(), counts, root);
      CHECK(at_root == (world.rank() == root ? expected : std::vector<T>(expected.size(), T(-99))));
    }
  });
}

TEST_CASE_TEMPLATE("reduce-scatter", T, ELEMENT_TYPES) {
  communicator const world = communicator::world();
  with_limits([&] {
    for (reduction how : {reduction::sum, reduction::max, reduction::min}) {
      if (!is_ordered<T> && how != reduction::sum) continue;
      for (auto const& counts : part_sizes(world.size())) {
        std::vector<T> send;
        for (std::int64_t i = 0; i < sum_of(counts); ++i) send.push_back(element<T>(world.rank(), 0, i));
        std::int64_t before = 0;
        for (int d = 0; d < world.rank(); ++d) before += counts[static_cast<std::size_t>(d)];
        std::vector<T> part(static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]), T(-99));
        reduce_scatter(world, send.data(), part.data(), counts, how);

        std::vector<T> expected(part.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
          expected[i] = element<T>(0, 0, before + static_cast<std::int64_t>(i));
          for (int d = 1; d < world.size(); ++d) {
            T const x = element<T>(d, 0, before + static_cast<std::int64_t>(i));
            if (how == reduction::sum) expected[i] += x;
            if constexpr (is_ordered<T>) {
              if (how == reduction::max && x > expected[i]) expected[i] = x;
              if (how == reduction::min && x < expected[i]) expected[i] = x;
            }
          }
        }
        CHECK(part == expected);
      }
    }
  });
}

TEST_CASE_TEMPLATE("gathers and sums that leave out the own part", T, float, std::int64_t, Kokkos::complex<double>,
                   ostraka::bfloat16) {
  communicator const world = communicator::world();
  if (world.size() == 1) return;
  using wide = ostraka::accumulator_of_t<T>;
  int const n = world.size(), me = world.rank();
  auto const value = [](int d, int e, std::int64_t i) {
    return T(static_cast<float>((17 * d + 31 * e + 7 * i) % 101) - 50.f);
  };
  with_limits([&] {
    for (std::int64_t count : {0, 1, 23, 40000}) {
      if (count == 40000 && chunk_limit < count) continue;
      std::size_t const length = static_cast<std::size_t>(count), others = length * static_cast<std::size_t>(n - 1);
      std::vector<T> own(length), expected, parts, all(others), sum(length), added(length);
      for (std::int64_t i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = value(me, 0, i);
      for (int d = 0; d < n; ++d)
        for (std::int64_t i = 0; i < count && d != me; ++i) {
          expected.push_back(value(d, 0, i));
          parts.push_back(value(me, d, i));
        }
      all_gather_in_flight<T> gather;
      gather.begin_of_others(world, own.data(), all.data(), count);
      gather.finish();
      CHECK(all == expected);

      std::fill(added.begin(), added.end(), T(3.f));
      auto const sum_of_others = [&](std::vector<T>& to, update<T> const& into) {
        reduce_scatter(world, parts.data(), to.data(), counts_view::even(count, static_cast<std::size_t>(n)),
                       ostraka::reduction::sum, into, parts_sent::all_but_own);
      };
      sum_of_others(sum, {});
      sum_of_others(added, update<T>{wide(1), wide(2)});
      for (std::int64_t i = 0; i < count; ++i) {
        wide total(0);
        for (int d = 0; d < n; ++d)
          if (d != me) total += wide(value(d, me, i));
        if (sum[static_cast<std::size_t>(i)] != T(total)) FAIL("sum ", i);
        if (added[static_cast<std::size_t>(i)] != T(total + wide(6))) FAIL("added ", i);
      }
    }
  });
}

TEST_CASE_TEMPLATE("all-reduce", T, ELEMENT_TYPES) {
  communicator const world = communicator::world();
  with_limits([&] {
    for (reduction how : {reduction::sum, reduction::max, reduction::min}) {
      if (!is_ordered<T> && how != reduction::sum) continue;
      for (std::int64_t count : {0, 1, 2, 37}) {
        std::vector<T> data, expected;
        for (std::int64_t i = 0; i < count; ++i) {
          data.push_back(element<T>(world.rank(), 0, i));
          T e = element<T>(0, 0, i);
          for (int d = 1; d < world.size(); ++d) {
            T const x = element<T>(d, 0, i);
            if (how == reduction::sum) e += x;
            if constexpr (is_ordered<T>) {
              if (how == reduction::max && x > e) e = x;
              if (how == reduction::min && x < e) e = x;
            }
          }
          expected.push_back(e);
        }
        all_reduce(world, data.data(), count, how);
        CHECK(data == expected);
      }
    }
  });
}

/// `send` and `received` hold the parts in member order without gaps.
template <class T>
void exchange_in_order(communicator const& world, std::vector<T> const& send,
                       std::vector<std::int64_t> const& send_counts, std::vector<T>& received,
                       std::vector<std::int64_t> const& recv_counts) {
  std::vector<exchanged<T>> parts;
  T const* out = send.data();
  T* in = received.data();
  for (std::size_t d = 0; d < send_counts.size(); ++d) {
    parts.push_back({out, send_counts[d], in, recv_counts[d]});
    out += send_counts[d];
    in += recv_counts[d];
  }
  exchanged<T> const& own = parts[static_cast<std::size_t>(world.rank())];
  std::copy_n(own.send, own.sent, own.receive);
  exchange(world, parts.data(), [] {});
}

TEST_CASE_TEMPLATE("exchange", T, ELEMENT_TYPES) {
  communicator const world = communicator::world();
  auto const count_between = [](int pattern, int d, int e) -> std::int64_t {
    switch (pattern) {
      case 0: return 0;
      case 1: return 9;
      case 2: return (d * 5 + e * 3) % 11;
      case 3: return d == e ? 8 : 0;
      default: return d < e ? 20 : 0;
    }
  };
  with_limits([&] {
    for (int pattern = 0; pattern < 5; ++pattern) {
      std::vector<std::int64_t> send_counts, recv_counts;
      std::vector<T> send, expected;
      for (int d = 0; d < world.size(); ++d) {
        send_counts.push_back(count_between(pattern, world.rank(), d));
        recv_counts.push_back(count_between(pattern, d, world.rank()));
        for (std::int64_t i = 0; i < send_counts.back(); ++i) send.push_back(element<T>(world.rank(), d, i));
        for (std::int64_t i = 0; i < recv_counts.back(); ++i) expected.push_back(element<T>(d, world.rank(), i));
      }
      std::vector<T> received(expected.size(), T(-99));
      exchange_in_order(world, send, send_counts, received, recv_counts);
      CHECK(received == expected);
    }
  });
}

TEST_CASE_TEMPLATE("exchange of strided blocks, on one side or both", T, ELEMENT_TYPES) {
  communicator const world = communicator::world();
  std::int64_t const n = world.size();
  // In a block of n × 3 × 5 × 7 elements, [d, 0..2, 1..4, 2..6] of it goes to device d, in place or packed; and it
  // arrives in the same way.
  strided const block = strided{}.add(2, 35).add(3, 7).add(4, 1);
  auto const place = [](std::int64_t d, std::int64_t i) {
    return d * 105 + i / 12 * 35 + (1 + i % 12 / 4) * 7 + 2 + i % 4;
  };
  for (bool const sends : {true, false})
    for (bool const receives : {true, false}) {
      std::vector<T> from(static_cast<std::size_t>(n * 105), T(-7)), to(from.size(), T(-99)), expected = to;
      std::vector<T> packed(static_cast<std::size_t>(n * 24)), arrived(packed.size());
      std::vector<exchanged<T>> parts;
      for (std::int64_t d = 0; d < n; ++d) {
        bool const own = d == world.rank();
        for (std::int64_t i = 0; i < 24; ++i) {
          std::size_t const at = static_cast<std::size_t>(place(d, i));
          packed[static_cast<std::size_t>(d * 24 + i)] = from[at] = element<T>(world.rank(), static_cast<int>(d), i);
          if (!own) expected[at] = element<T>(static_cast<int>(d), world.rank(), i);
        }
        parts.push_back({sends ? from.data() + place(d, 0) : packed.data() + d * 24, own ? 0 : 24,
                         receives ? to.data() + place(d, 0) : arrived.data() + d * 24, own ? 0 : 24,
                         sends ? &block : nullptr, receives ? &block : nullptr});
      }
      exchange(world, parts.data(), [] {});
      if (!receives)
        for (std::int64_t d = 0; d < n; ++d)
          for (std::int64_t i = 0; i < 24 && d != world.rank(); ++i)
            to[static_cast<std::size_t>(place(d, i))] = arrived[static_cast<std::size_t>(d * 24 + i)];
      CHECK(to == expected);
    }
}

TEST_CASE("an all-reduce gives all devices the same bits, and a reduce-scatter the sum in member order") {
  communicator const world = communicator::world();
  std::size_t const devices = static_cast<std::size_t>(world.size());
  std::size_t const count = 3000;
  std::vector<std::vector<float>> values(devices, std::vector<float>(count));
  std::mt19937 random(7);
  for (auto& row : values)
    for (float& v : row) v = std::ldexp(static_cast<float>(random() % 1000003), static_cast<int>(random() % 40) - 20);

  for (std::int64_t chunk : {std::int64_t(1) << 30, std::int64_t(1000)}) {
    lowered_limit const lowered(chunk);
    std::vector<float> mine = values[static_cast<std::size_t>(world.rank())];
    all_reduce(world, mine.data(), static_cast<std::int64_t>(count), reduction::sum);
    std::vector<float> all(devices * count);
    all_gather(world, mine.data(), all.data(), std::vector<std::int64_t>(devices, static_cast<std::int64_t>(count)));
    for (std::size_t d = 0; d < devices; ++d)
      CHECK(std::memcmp(&all[d * count], mine.data(), count * sizeof(float)) == 0);
  }

  std::vector<std::int64_t> counts(devices, 0);
  counts[0] = static_cast<std::int64_t>(count);
  std::vector<float> sum(count), expected = values[0];
  for (std::size_t d = 1; d < devices; ++d)
    for (std::size_t i = 0; i < count; ++i) expected[i] += values[d][i];
  reduce_scatter(world, values[static_cast<std::size_t>(world.rank())].data(), sum.data(), counts, reduction::sum);
  if (world.rank() == 0) CHECK(std::memcmp(sum.data(), expected.data(), count * sizeof(float)) == 0);
}

TEST_CASE("maxima of zeros of either sign and of NaN are the same on all devices") {
  communicator const world = communicator::world();
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> data = {world.rank() % 2 ? 0.0 : -0.0, world.rank() == world.size() - 1 ? nan : 5.0,
                              double(world.rank())};
  all_reduce(world, data.data(), 3, reduction::max);
  CHECK(std::isnan(data[1]));
  CHECK(data[2] == world.size() - 1);
  std::vector<double> all(static_cast<std::size_t>(3 * world.size()));
  all_gather(world, data.data(), all.data(), std::vector<std::int64_t>(static_cast<std::size_t>(world.size()), 3));
  for (int d = 0; d < world.size(); ++d)
    CHECK(std::memcmp(&all[static_cast<std::size_t>(3 * d)], all.data(), 3 * sizeof(double)) == 0);
}

TEST_CASE("pieces of a long reduction overlap without mixing") {
  communicator const world = communicator::world();
  std::size_t const devices = static_cast<std::size_t>(world.size());
  std::int64_t const count = 300000;  // of every part: several pieces
  std::vector<double> data(devices * static_cast<std::size_t>(count)), part(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) * (world.rank() + 1);
  reduce_scatter(world, data.data(), part.data(), std::vector<std::int64_t>(devices, count), reduction::sum);
  double const factor = world.size() * (world.size() + 1) / 2.0;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i)
    wrong += part[static_cast<std::size_t>(i)] != static_cast<double>(i + count * world.rank()) * factor;
  CHECK(wrong == 0);
}

TEST_CASE("complex numbers have no maximum") {
  communicator const world = communicator::world();
  Kokkos::complex<float> x(1, 2);
  CHECK_THROWS_AS(all_reduce(world, &x, 1, reduction::max), ostraka::error);
}

TEST_CASE_TEMPLATE("several collectives of one group in flight, finished in the order in which they were begun", T,
                   float, std::int64_t, Kokkos::complex<double>) {
  communicator const world = communicator::world();
  std::size_t const n = static_cast<std::size_t>(world.size());
  int const me = world.rank();
  with_limits([&] {
    for (std::int64_t count : {1, 23}) {
      std::size_t const length = static_cast<std::size_t>(count);
      std::vector<std::int64_t> const counts(n, count);
      std::vector<T> mine(length), summands(n * length), sent(n * length);
      std::vector<T> gathered(n * length), again(n * length), sum(length), exchanged_parts(n * length);
      std::vector<T> all(n * length), total(length, T(0)), arrived(n * length);
      for (std::size_t i = 0; i < length; ++i) {
        mine[i] = element<T>(me, 0, static_cast<std::int64_t>(i));
        for (std::size_t d = 0; d < n; ++d) {
          int const other = static_cast<int>(d);
          std::int64_t const k = static_cast<std::int64_t>(i);
          summands[d * length + i] = element<T>(me, other, k + 1);
          sent[d * length + i] = element<T>(me, other, k + 2);
          all[d * length + i] = element<T>(other, 0, k);
          total[i] += element<T>(other, me, k + 1);
          arrived[d * length + i] = element<T>(other, me, k + 2);
        }
      }
      std::vector<exchanged<T>> parts;
      for (std::size_t d = 0; d < n; ++d)
        parts.push_back({sent.data() + d * length, count, exchanged_parts.data() + d * length, count});
      std::copy_n(sent.data() + static_cast<std::size_t>(me) * length, length,
                  exchanged_parts.data() + static_cast<std::size_t>(me) * length);

      all_gather_in_flight<T> gather, second;
      reduce_scatter_in_flight<T> scatter;
      exchange_in_flight<T> exchange;
      std::vector<T> pieces(static_cast<std::size_t>(scatter.pieces_of(world, count)));
      gather.begin(world, mine.data(), gathered.data(), counts);
      scatter.begin(world, summands.data(), sum.data(), counts, pieces.data(), reduction::sum);
      exchange.begin(world, parts.data());
      second.begin(world, mine.data(), again.data(), counts);
      gather.finish();
      scatter.finish();
      exchange.finish();
      second.finish();
      CHECK(gathered == all);
      CHECK(sum == total);
      CHECK(exchanged_parts == arrived);
      CHECK(again == all);
    }
  });
}
