// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Blocks, a place and a layout, by plain loops over their indices: row-major blocks, the places of parts and
/// diagonals, and the sums of the contraction of three blocks by label. All extents from 0 to 3, in every order.

#include <doctest/doctest.h>

#include <ostraka/plan/blocks/diagonal.hpp>
#include <ostraka/plan/blocks/labelled_layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

using namespace ostraka::planner;

namespace {

constexpr strided matrix = strided().add(2, 1).add(3, 2);  // column-major
static_assert(matrix.size() == 6 && !matrix.is_row_major() && row_major({2, 3}).is_row_major());
static_assert(strided().size() == 1 && strided().is_row_major());

constexpr spec of(std::initializer_list<int> labels) {
  spec s;
  for (int const l : labels) s.label[s.rank++] = static_cast<std::int8_t>(l);
  return s;
}

// The extents of three dimensions, 0 to 3 each.
template <class F>
void for_each_extents(F const& f) {
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t k = 0; k < 4; ++k) f(std::array<std::int64_t, 3>{i, j, k});
}

TEST_CASE("row-major is what counts on without a gap, whatever the stride of one index") {
  for_each_extents([](std::array<std::int64_t, 3> const& n) {
    for (std::int64_t gap = 0; gap < 2; ++gap)
      for (int with_gap = 0; with_gap < 3; ++with_gap) {
        strided s = row_major(n.data(), 3);
        s.stride[with_gap] += gap;
        bool counts_on = true;
        std::int64_t next = 0;
        for (std::int64_t i = 0; i < n[0]; ++i)
          for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t k = 0; k < n[2]; ++k, ++next)
              counts_on = counts_on && i * s.stride[0] + j * s.stride[1] + k * s.stride[2] == next;
        CHECK(s.is_row_major() == counts_on);
        CHECK(s.size() == next);
      }
  });
}

TEST_CASE("a part begins where its first element is, and its elements lie as they did") {
  for_each_extents([](std::array<std::int64_t, 3> const& n) {
    box whole;
    whole.rank = 2;
    whole.at[0] = {5, 5 + n[0]};
    whole.at[1] = {n[2], n[2] + n[1]};
    strided_block<std::int64_t> const block = dense_block(std::int64_t{100}, whole);
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j) {
        box inner = whole;
        inner.at[0].begin += i;
        inner.at[1].begin += j;
        strided_block<std::int64_t> const part = block.part(inner);
        CHECK(part.data == 100 + i * n[1] + j);
        CHECK(part.where.size() == (n[0] - i) * (n[1] - j));
        CHECK(part.stride[0] == n[1]);
        CHECK(part.stride[1] == 1);
      }
    box nothing = whole;
    nothing.at[0].end = nothing.at[0].begin;
    CHECK(block.part(nothing).data == 100);  // an empty part has no place
  });
}

TEST_CASE("a diagonal is each element whose indices are alike, counted from where the block begins") {
  for (std::int64_t begin = 0; begin < 4; ++begin)
    for_each_extents([&](std::array<std::int64_t, 3> const& n) {
      box whole, target;
      whole.rank = 2;
      whole.at[0] = {begin, begin + n[0]};
      whole.at[1] = {n[2], n[2] + n[1]};
      target.rank = 1;
      target.at[0] = {0, 8};
      int const along[] = {0, 0};
      strided_block<std::int64_t> const d = diagonal_of(whole, along, target);
      std::int64_t found = 0;
      for (std::int64_t i = whole.at[0].begin; i < whole.at[0].end; ++i)
        for (std::int64_t j = whole.at[1].begin; j < whole.at[1].end; ++j)
          if (i == j) CHECK(d.data + found++ * d.stride[0] == (i - whole.at[0].begin) * n[1] + j - whole.at[1].begin);
      CHECK(d.where.size() == found);
    });
}

TEST_CASE("by label: parts, other extents and other orders are where the elements are") {
  for_each_extents([](std::array<std::int64_t, 3> const& n) {
    strided_block<std::int64_t, labelled> const block{row_major(of({7, 2, 4}), n.data()), 10};
    strided const turned = block.in_order_of(row_major(of({4, 7, 2}), n.data()));
    CHECK(block.without(2).rank == 2);
    CHECK(block.with(2, 5).stride_of(7) == 5 * n[2]);
    CHECK((block.extent_of(3) == 1 && block.stride_of(3) == 0 && !block.has(3)));
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j)
        for (std::int64_t k = 0; k < n[2]; ++k) {
          std::int64_t const at = (i * n[1] + j) * n[2] + k;
          CHECK(k * turned.stride[0] + i * turned.stride[1] + j * turned.stride[2] == at);
          CHECK(i * block.without(2).stride_of(7) + k * block.without(2).stride_of(4) == at - j * n[2]);
          auto const part = block.part(2, range{j, n[1]});
          CHECK(part.data + i * part.stride_of(7) + k * part.stride_of(4) == 10 + at);
          CHECK(part.extent_of(2) == n[1] - j);
        }
  });
}

// Adds A[i, j] B[k, j] into C, which lacks j or does not, for every i, k; by the contraction's labels.
void add_up(contraction const& p, std::vector<std::int64_t> const& a, std::vector<std::int64_t> const& b,
            std::vector<std::int64_t>& c, int label = 0, std::int64_t at_a = 0, std::int64_t at_b = 0,
            std::int64_t at_c = 0) {
  if (label == p.labels) {
    c[static_cast<std::size_t>(at_c)] += a[static_cast<std::size_t>(at_a)] * b[static_cast<std::size_t>(at_b)];
    return;
  }
  for (std::int64_t n = 0; n < p.extent[label]; ++n)
    add_up(p, a, b, c, label + 1, at_a + n * p.a[label], at_b + n * p.b[label], at_c + n * p.c[label]);
}

TEST_CASE("the contraction of three blocks is what its labels say") {
  for_each_extents([](std::array<std::int64_t, 3> const& n) {
    auto const [i, j, k] = n;
    std::int64_t const of_a[] = {i, j}, of_b[] = {k, j}, of_c[] = {k, i};
    std::vector<std::int64_t> a, b;
    for (std::int64_t x = 0; x < i * j; ++x) a.push_back(3 * x + 1);
    for (std::int64_t x = 0; x < k * j; ++x) b.push_back(5 * x - 2);
    // Labels 0, 1 and 3; none has 2.
    contraction const p =
        contraction_of(row_major(of({0, 3}), of_a), row_major(of({1, 3}), of_b), row_major(of({1, 0}), of_c));
    CHECK(p.labels == 4);
    CHECK((p.extent[2] == 1 && !p.in_a[2] && !p.in_b[2] && !p.in_c[2]));
    CHECK((p.in_a[0] && !p.in_b[0] && p.in_c[0] && p.in_a[3] && p.in_b[3] && !p.in_c[3]));
    std::vector<std::int64_t> c(static_cast<std::size_t>(k * i)), expected = c;
    add_up(p, a, b, c);
    for (std::int64_t x = 0; x < i; ++x)
      for (std::int64_t y = 0; y < j; ++y)
        for (std::int64_t z = 0; z < k; ++z)
          expected[static_cast<std::size_t>(z * i + x)] +=
              a[static_cast<std::size_t>(x * j + y)] * b[static_cast<std::size_t>(z * j + y)];
    CHECK(c == expected);
  });
}

}  // namespace
