// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Collectives over two levels, on simulated nodes: every number of ranks as every number of nodes, and as grids in
/// which both axes are within nodes and between them. Each gives the result of plain loops over the members, the same
/// bits on all of them, begun one at a time and several at once. The bytes over the slow level are those of plain
/// arithmetic, on ranks and on dry groups alike.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/levels/levelled_reduce.hpp>
#include <ostraka/engine/levels/levelled_scatter.hpp>

#include "support/byte_counter.hpp"

namespace {

using namespace ostraka::engine;
using list = std::vector<std::int64_t>;

struct lowered_limits {
  std::int64_t chunk = chunk_limit;
  std::int64_t levelled = shortest_levelled;
  explicit lowered_limits(std::int64_t lower) {
    chunk_limit = lower;
    shortest_levelled = 1;
  }
  ~lowered_limits() {
    chunk_limit = chunk;
    shortest_levelled = levelled;
  }
};

// Whole numbers, so that every order of sums gives the same; products and bits stay small.
template <class T>
T value(int d, std::int64_t i) {
  int const v = static_cast<int>((17 * d + 7 * i) % 5);
  if constexpr (std::is_same_v<T, bool>)
    return v > 2;
  else
    return T(static_cast<float>(v) - 2.f);
}

// Also of bool, in a row.
template <class T>
struct elements {
  std::vector<char> bytes{};
  explicit elements(std::int64_t count = 0) : bytes(static_cast<std::size_t>(count) * sizeof(T) + 1, 77) {}
  T* data() { return reinterpret_cast<T*>(bytes.data()); }
  T& operator[](std::int64_t i) { return data()[i]; }
};

template <class T>
elements<T> values(int d, std::int64_t count) {
  elements<T> all(count);
  for (std::int64_t i = 0; i < count; ++i) all[i] = value<T>(d, i);
  return all;
}

template <class T>
T reduced(int n, std::int64_t i, reduction how, int but = -1) {
  T all{};
  bool first = true;
  for (int d = 0; d < n; ++d) {
    if (d == but) continue;
    T const x = value<T>(d, i);
    if (first)
      all = x;
    else if (how == reduction::sum)
      all = T(all + x);
    else if constexpr (is_ordered<T>)
      all = x > all ? x : all;
    first = false;
  }
  return all;
}

// Every way to place so many devices on nodes, along one axis and along two.
std::vector<node_grid> grids(int n) {
  std::vector<node_grid> all;
  for (int x = 1; x <= n; ++x)
    for (int x_within = 1; x_within <= x; ++x_within)
      for (int y_within = 1; y_within <= n / x; ++y_within) {
        if (n % x != 0 || x % x_within != 0 || (n / x) % y_within != 0) continue;
        node_grid g;
        g.add(x, x_within);
        g.add(n / x, y_within);
        if (g.has_levels()) all.push_back(g);
      }
  return all;
}

std::vector<list> part_sizes(int devices) {
  auto const n = static_cast<std::size_t>(devices);
  list uneven(n), holes(n), one(n, 0);
  for (std::size_t d = 0; d < n; ++d) {
    uneven[d] = static_cast<std::int64_t>(3 + 5 * d);
    holes[d] = d % 2 ? 0 : 12;
  }
  one[n - 1] = 9;
  return {list(n, 23), list(n, 1), uneven, holes, one, list(n, 0)};
}

std::int64_t sum_of(list const& counts, std::size_t end) {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < end; ++d) sum += counts[d];
  return sum;
}

int ways = 0;  // the number so far

// Calls f(group) with ranks placed in every way, and messages of every length; or in some of these ways, different ones
// each time.
template <int Stride = 1, class F>
void on_every_grid(F const& f) {
  for (std::int64_t chunk : {std::int64_t(1) << 30, std::int64_t(5)}) {
    lowered_limits const lowered(chunk);
    for (node_grid const& grid : grids(communicator::world().size())) {
      if (ways++ % Stride != 0) continue;
      communicator const group = communicator::world();
      group.set_nodes(grid);
      std::string name = "in messages of " + std::to_string(chunk) + ", nodes hold";
      for (int a = 0; a < grid.axes; ++a)
        name += " " + std::to_string(grid.within[a]) + " of " + std::to_string(grid.size[a]);
      CAPTURE(name);
      f(group);
    }
  }
}

}  // namespace

TEST_CASE("a grid and its nodes") {
  node_grid g;
  g.add(4, 2);
  g.add(1, 1);
  g.add(6, 3);
  CHECK(g.nodes() == 4);
  CHECK(g.each() == 6);
  CHECK(!g.in_order());
  for (int d = 0; d < 24; ++d) {
    int const x = d / 6, y = d % 6;
    CHECK(g.node_of(d) == x / 2 * 2 + y / 3);
    CHECK(g.place_of(d) == x % 2 * 3 + y % 3);
    CHECK(g.device(g.node_of(d), g.place_of(d)) == d);
  }
  node_grid h;
  h.add(4, 2);
  h.add(6, 6);
  CHECK(h.in_order());
}

// The route of a message does not depend on its element type: one type goes through all ways, the others through some.
template <class T>
constexpr int stride_of = std::is_same_v<T, float> ? 1 : 7;

#define ELEMENT_TYPES                                                                                      \
  float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int8_t, std::int16_t, std::int32_t, \
      std::int64_t, bool, ostraka::float16, ostraka::bfloat16

TEST_CASE_TEMPLATE("all-gather", T, ELEMENT_TYPES) {
  on_every_grid<stride_of<T>>([](communicator const& group) {
    int const n = group.size(), me = group.rank();
    for (list const& counts : part_sizes(n))
      for (mpi_calls calls : {mpi_calls::blocking, mpi_calls::nonblocking}) {
        std::int64_t const own = counts[static_cast<std::size_t>(me)];
        std::int64_t const before = sum_of(counts, static_cast<std::size_t>(me));
        elements<T> mine = values<T>(me, own), all(sum_of(counts, counts.size())), in_place(all);
        levelled_all_gather<T> gather;
        gather.begin(group, mine.data(), all.data(), counts, calls);
        gather.finish();
        for (int d = 0, at = 0; d < n; ++d)
          for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(d)]; ++i) CHECK(all[at++] == value<T>(d, i));

        for (std::int64_t i = 0; i < own; ++i) in_place[before + i] = mine[i];
        gather.begin(group, in_place.data() + before, in_place.data(), counts, calls);
        while (!gather.test()) {
        }
        gather.finish();
        CHECK(in_place.bytes == all.bytes);
      }

    std::int64_t const count = 13;  // without the own part
    elements<T> mine = values<T>(me, count), others(count * (n - 1));
    levelled_all_gather<T> gather;
    gather.begin_of_others(group, mine.data(), others.data(), count);
    gather.finish();
    for (int d = 0, at = 0; d < n; ++d)
      for (std::int64_t i = 0; i < count && d != me; ++i) CHECK(others[at++] == value<T>(d, i));
  });
}

// Two operations do not exist: bool has no sum, and complex numbers have no maximum.
template <class T>
std::vector<reduction> reductions() {
  if (std::is_same_v<T, bool>) return {reduction::max};
  if (!is_ordered<T>) return {reduction::sum};
  return {reduction::sum, reduction::max};
}

TEST_CASE_TEMPLATE("reduce-scatter", T, ELEMENT_TYPES) {
  on_every_grid<stride_of<T>>([](communicator const& group) {
    int const n = group.size(), me = group.rank();
    for (list const& counts : part_sizes(n))
      for (reduction how : reductions<T>())
        for (mpi_calls calls : {mpi_calls::blocking, mpi_calls::nonblocking})
          for (parts_sent sent : {parts_sent::all, parts_sent::all_but_own}) {
            std::int64_t const before = sum_of(counts, static_cast<std::size_t>(me));
            std::int64_t const own = counts[static_cast<std::size_t>(me)];
            elements<T> send(sum_of(counts, counts.size())), result(own);
            for (std::int64_t i = 0, at = 0; i < sum_of(counts, counts.size()); ++i)
              if (sent == parts_sent::all || i < before || i >= before + own) send[at++] = value<T>(me, i);
            std::int64_t const longest = *std::max_element(counts.begin(), counts.end());
            elements<T> pieces(reduce_scatter_in_flight<T>::pieces_of(group, own, longest, calls));
            levelled_reduce_scatter<T> scatter;
            scatter.begin(group, send.data(), result.data(), counts, pieces.data(), how, {}, sent, calls);
            scatter.finish();
            auto const expected = [&](std::int64_t i) {
              return reduced<T>(n, before + i, how, sent == parts_sent::all ? -1 : me);
            };
            for (std::int64_t i = 0; i < own; ++i) CHECK(result[i] == expected(i));
            if constexpr (!std::is_same_v<T, bool>)
              if (how == reduction::sum) {  // twice, onto the old values
                for (std::int64_t i = 0; i < own; ++i) result[i] = value<T>(5, i);
                scatter.begin(group, send.data(), result.data(), counts, pieces.data(), how,
                              {ostraka::accumulator_of_t<T>(2), ostraka::accumulator_of_t<T>(1)}, sent, calls);
                while (!scatter.test()) {
                }
                scatter.finish();
                for (std::int64_t i = 0; i < own; ++i)
                  CHECK(result[i] == T(value<T>(5, i) + expected(i) + expected(i)));
              }
          }
  });
}

TEST_CASE_TEMPLATE("all-reduce", T, ELEMENT_TYPES) {
  on_every_grid<stride_of<T>>([](communicator const& group) {
    for (std::int64_t count : {1, 2, 7, 24, 53})
      for (reduction how : reductions<T>())
        for (mpi_calls calls : {mpi_calls::blocking, mpi_calls::nonblocking}) {
          elements<T> data = values<T>(group.rank(), count);
          levelled_all_reduce<T> all;
          all.begin(group, data.data(), count, how, nullptr, nullptr, calls);
          all.finish();
          for (std::int64_t i = 0; i < count; ++i) CHECK(data[i] == reduced<T>(group.size(), i, how));
        }
  });
}

TEST_CASE("sums that round are the same bits on all members, and in every run") {
  on_every_grid([](communicator const& group) {
    for (mpi_calls calls : {mpi_calls::blocking, mpi_calls::nonblocking})
      for (std::int64_t count : {1, 3, 1000}) {
        std::vector<float> once;
        for (int run = 0; run < 3; ++run) {
          std::vector<float> data(static_cast<std::size_t>(count));
          for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = 1.f / static_cast<float>(3 + group.rank() * 7 + static_cast<int>(i));
          levelled_all_reduce<float> all;
          all.begin(group, data.data(), count, reduction::sum, nullptr, nullptr, calls);
          all.finish();
          if (run == 0) once = data;
          CHECK(data == once);
        }
        std::vector<char> mine(once.size() * sizeof(float));
        std::memcpy(mine.data(), once.data(), mine.size());
        for (auto const& theirs : ostraka::testing::bytes_of_ranks(mine)) CHECK(theirs == mine);
      }
  });
}

TEST_CASE("several at once, tested in another order than begun") {
  on_every_grid([](communicator const& group) {
    int const n = group.size(), me = group.rank();
    std::int64_t const count = 40;
    list const counts(static_cast<std::size_t>(n), count);
    constexpr int flights = 3;
    levelled_all_reduce<double> reduces[flights];
    levelled_all_gather<double> gathers[flights];
    levelled_reduce_scatter<double> scatters[flights];
    elements<double> data[flights], all[flights], part[flights], send[flights], own[flights], pieces[flights];
    for (int k = 0; k < flights; ++k) {
      data[k] = values<double>(me + k, count);
      own[k] = values<double>(me + k, count);
      send[k] = values<double>(me + k, count * n);
      all[k] = elements<double>(count * n);
      part[k] = elements<double>(count);
      pieces[k] = elements<double>(2 * n * count);
      reduces[k].begin(group, data[k].data(), count, reduction::sum, nullptr, nullptr, mpi_calls::nonblocking);
      gathers[k].begin(group, own[k].data(), all[k].data(), counts, mpi_calls::nonblocking);
      scatters[k].begin(group, send[k].data(), part[k].data(), counts, pieces[k].data(), reduction::sum, {},
                        parts_sent::all, mpi_calls::nonblocking);
    }
    for (int turns = 0; turns < 50 * (me + 1); ++turns)  // devices progress at different rates
      for (int k = 0; k < flights; ++k) {
        int const f = me % 2 == 0 ? flights - 1 - k : k;
        scatters[f].test();
        reduces[f].test();
        gathers[f].test();
      }
    for (int k = 0; k < flights; ++k) {
      reduces[k].finish();
      gathers[k].finish();
      scatters[k].finish();
      for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0, scattered = 0;
        for (int d = 0; d < n; ++d) {
          sum += value<double>(d + k, i);
          scattered += value<double>(d + k, me * count + i);
          CHECK(all[k][d * count + i] == value<double>(d + k, i));
        }
        CHECK(data[k][i] == sum);
        CHECK(part[k][i] == scattered);
      }
    }
  });
}

TEST_CASE("bytes between nodes are those of one device of each node, and in all those of one level") {
  std::int64_t const count = 24 * 35;
  on_every_grid([&](communicator const& group) {
    std::int64_t const n = group.size(), each = group.nodes().each(), nodes = group.nodes().nodes();
    communicator const dry = communicator::dry(group.size(), group.rank());
    dry.set_nodes(group.nodes());
    auto const check = [&](auto const& f, std::int64_t all, std::int64_t between) {
      traffic const before[2] = {group.sent(), dry.sent()};
      f(group);
      f(dry);
      CHECK(group.sent().bytes - before[0].bytes == dry.sent().bytes - before[1].bytes);
      CHECK(group.sent().messages - before[0].messages == dry.sent().messages - before[1].messages);
      CHECK(group.sent().bytes_between_nodes - before[0].bytes_between_nodes ==
            dry.sent().bytes_between_nodes - before[1].bytes_between_nodes);
      std::int64_t bytes = 0, slow = 0;
      for (std::int64_t b : ostraka::testing::numbers_of_ranks(group.sent().bytes - before[0].bytes)) bytes += b;
      for (std::int64_t b :
           ostraka::testing::numbers_of_ranks(group.sent().bytes_between_nodes - before[0].bytes_between_nodes))
        slow += b;
      CHECK(bytes == all);
      if (between >= 0) CHECK(slow == between);
    };
    std::int64_t const whole = count * static_cast<std::int64_t>(sizeof(double));
    std::vector<double> data(static_cast<std::size_t>(count)), all(data);
    list const counts(static_cast<std::size_t>(n), count / n);
    // In another order parts go directly to all, or round a ring.
    bool const in_order = group.nodes().in_order();
    std::int64_t const once = in_order ? (nodes - 1) * whole : chunk_limit > whole ? (n - each) * whole : -1;
    for (mpi_calls calls : {mpi_calls::blocking, mpi_calls::nonblocking}) {
      check(
          [&](communicator const& g) {
            levelled_all_reduce<double> reduce;
            reduce.begin(g, data.data(), count, reduction::sum, nullptr, nullptr, calls);
            reduce.finish();
          },
          2 * (n - 1) * whole, 2 * (nodes - 1) * whole);
      check(
          [&](communicator const& g) {
            levelled_all_gather<double> gather;
            gather.begin(g, data.data(), all.data(), counts, calls);
            gather.finish();
          },
          (n - 1) * whole, once);
      check(
          [&](communicator const& g) {
            std::vector<double> pieces(static_cast<std::size_t>(4 * count));
            levelled_reduce_scatter<double> scatter;
            scatter.begin(g, data.data(), all.data(), counts, pieces.data(), reduction::sum, {}, parts_sent::all,
                          calls);
            scatter.finish();
          },
          (n - 1) * whole, once);
    }
  });
}
