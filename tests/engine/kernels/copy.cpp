// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Strided copies and fills against plain loops: every permutation of dimensions, gaps, repeated sources, empty and
/// large blocks.
// ranks: 1
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <ostraka/engine/kernels/copy_strided.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// Strides of these extents with the dimensions in this order in memory (innermost last), with gaps after some of them.
strided layout_of(std::vector<std::int64_t> const& extents, std::vector<int> const& order, std::int64_t gap,
                  std::int64_t* room) {
  strided s;
  s.rank = static_cast<int>(extents.size());
  std::int64_t step = 1 + gap;
  for (std::size_t i = order.size(); i-- > 0;) {
    s.extent[order[i]] = extents[static_cast<std::size_t>(order[i])];
    s.stride[order[i]] = step;
    step = step * std::max<std::int64_t>(1, s.extent[order[i]]) + gap;
  }
  *room = step + 1;
  return s;
}

std::int64_t offset_of(strided const& s, std::int64_t index) {
  std::int64_t offset = 0;
  for (int d = s.rank - 1; d >= 0; --d) {
    offset += index % s.extent[d] * s.stride[d];
    index /= s.extent[d];
  }
  return offset;
}

template <class T>
bool copies_right(strided const& to, std::int64_t to_room, strided const& from, std::int64_t from_room) {
  std::vector<T> source(static_cast<std::size_t>(from_room)), target(static_cast<std::size_t>(to_room), T(-1));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<T>(i % 100003);
  std::vector<T> expected = target, by_element = target;
  for (std::int64_t i = 0; i < to.size(); ++i)
    expected[static_cast<std::size_t>(offset_of(to, i))] = source[static_cast<std::size_t>(offset_of(from, i))];
  copy(exec_space(), target.data(), to, static_cast<T const*>(source.data()), from);
  Kokkos::fence();
  // the kernel that accelerators run, in a plain loop
  detail::copy_elements<T> const kernel{by_element.data(), source.data(), loops_over(to, from)};
  for (std::int64_t i = to.size(); i-- > 0;) kernel(i);
  return target == expected && by_element == expected;
}

}  // namespace

TEST_CASE("row-major") {
  strided const s = row_major({2, 3, 4});
  CHECK(s.rank == 3);
  CHECK(s.size() == 24);
  CHECK(s.stride[0] == 12);
  CHECK(s.stride[1] == 4);
  CHECK(s.stride[2] == 1);
  CHECK(row_major({}).size() == 1);
}

TEST_CASE("loops that both blocks walk without a jump are one") {
  CHECK(loops_over(row_major({2, 3, 4}), row_major({2, 3, 4})).rank == 1);
  CHECK(loops_over(row_major({1, 7, 1}), row_major({1, 7, 1})).rank == 1);
  CHECK(loops_over(row_major({1, 1}), row_major({1, 1})).rank == 0);
  strided padded = row_major({2, 3, 4});
  padded.stride[0] = 13;
  CHECK(loops_over(row_major({2, 3, 4}), padded).rank == 2);
  // [I, J, K] from [J, K, I]: J and K stay together
  strided transposed = strided().add(2, 1).add(3, 8).add(4, 2);
  loop_nest<2> const loops = loops_over(row_major({2, 3, 4}), transposed);
  CHECK(loops.rank == 2);
  CHECK(loops.extent[0] == 2);
  CHECK(loops.extent[1] == 12);
}

TEST_CASE("every pair of orders of up to four dimensions") {
  std::vector<std::int64_t> const extents = {3, 1, 5, 4};
  for (std::size_t rank = 0; rank <= extents.size(); ++rank) {
    std::vector<std::int64_t> const some(extents.begin(), extents.begin() + static_cast<long>(rank));
    std::vector<int> to_order(rank);
    for (std::size_t d = 0; d < rank; ++d) to_order[d] = static_cast<int>(d);
    do {
      std::vector<int> from_order(rank);
      for (std::size_t d = 0; d < rank; ++d) from_order[d] = static_cast<int>(d);
      do
        for (std::int64_t gaps = 0; gaps < 4; ++gaps) {
          std::int64_t to_room = 0, from_room = 0;
          strided const to = layout_of(some, to_order, gaps / 2, &to_room);
          strided const from = layout_of(some, from_order, gaps % 2, &from_room);
          REQUIRE(copies_right<double>(to, to_room, from, from_room));
        }
      while (std::next_permutation(from_order.begin(), from_order.end()));
    } while (std::next_permutation(to_order.begin(), to_order.end()));
  }
}

TEST_CASE("blocks large enough to be copied in parallel: runs, strided runs, tiles") {
  std::mt19937 random(11);
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<std::int64_t> extents;
    for (int d = 0; d < 3; ++d)
      extents.push_back(1 + static_cast<std::int64_t>(random() % (repeat % 3 == 0 ? 200 : 60)));
    if (repeat % 5 == 0) extents[1] = 1;
    std::vector<int> to_order = {0, 1, 2}, from_order = {0, 1, 2};
    std::shuffle(to_order.begin(), to_order.end(), random);
    std::shuffle(from_order.begin(), from_order.end(), random);
    std::int64_t to_room = 0, from_room = 0;
    strided const to = layout_of(extents, to_order, static_cast<std::int64_t>(random() % 2), &to_room);
    strided const from = layout_of(extents, from_order, static_cast<std::int64_t>(random() % 2), &from_room);
    REQUIRE(copies_right<std::int32_t>(to, to_room, from, from_room));
  }
}

TEST_CASE_TEMPLATE("matrices of small elements, transposed", T, std::int8_t, std::int16_t) {
  for (std::int64_t rows : {1, 15, 16, 17, 40, 300})
    for (std::int64_t columns : {1, 16, 31, 33, 300}) {
      std::int64_t to_room = 0, from_room = 0;
      strided const to = layout_of({rows, columns}, {0, 1}, 0, &to_room);
      strided const from = layout_of({rows, columns}, {1, 0}, 0, &from_room);
      CHECK(copies_right<T>(to, to_room, from, from_room));
    }
}

TEST_CASE("one long run with gaps, longer than a piece") {
  for (std::int64_t to_step : {1, 2, 3})
    for (std::int64_t from_step : {1, 2})
      REQUIRE(copies_right<std::int64_t>(strided().add(30011, to_step), 3 * 30011, strided().add(30011, from_step),
                                         2 * 30011));
}

TEST_CASE("a source with strides of 0 is repeated") {
  for (std::vector<std::int64_t> const& strides :
       std::vector<std::vector<std::int64_t>>{{0, 1, 70}, {1, 0, 40}, {40, 1, 0}, {0, 0, 1}, {0, 0, 0}}) {
    strided from;
    for (std::int64_t const stride : strides) from.add(40, stride);
    REQUIRE(copies_right<float>(row_major({40, 40, 40}), 64001, from, 40 * 112));
  }
}

TEST_CASE("empty blocks are not touched") {
  double x = 3;
  double const y = 4;
  copy(exec_space(), &x, row_major({5, 0}), &y, row_major({5, 0}));
  fill(exec_space(), &x, row_major({0, 5}), 7.0);
  fill(exec_space(), &x, 0, 7.0);
  CHECK(x == 3);
  copy(exec_space(), &x, row_major({}), &y, row_major({}));
  CHECK(x == 4);
}

TEST_CASE("fill writes the block and nothing between its rows") {
  for (std::int64_t rows : {3, 300}) {
    std::vector<double> data(static_cast<std::size_t>(rows * 50), 1.0), expected = data;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < 45; ++j) expected[static_cast<std::size_t>(i * 50 + j)] = 2.0;
    fill(exec_space(), data.data(), strided().add(rows, 50).add(45, 1), 2.0);
    Kokkos::fence();
    CHECK(data == expected);
  }
}
