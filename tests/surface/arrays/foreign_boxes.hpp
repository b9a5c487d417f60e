// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Distributions of a matrix as plain functions from a rank to its boxes, and the elements of a rank.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ostraka::testing {

struct matrix_box {
  std::int64_t i0, i1, j0, j1;

  [[nodiscard]] std::int64_t rows() const { return i1 - i0; }
  [[nodiscard]] std::int64_t columns() const { return j1 - j0; }
  [[nodiscard]] bool has(std::int64_t i, std::int64_t j) const { return i >= i0 && i < i1 && j >= j0 && j < j1; }
};

using boxes_of_rank = std::vector<matrix_box>;

/// Rules by which ranks have rows, or columns: the remainder on the first ranks; rows of ⌈n/p⌉, which leave the last
/// ones with less or nothing; all on the last one; in reversed order.
enum class division { first_have_more, rounded_up, all_on_the_last, reversed };

inline std::int64_t begin_of(division how, std::int64_t n, int rank, int ranks) {
  std::int64_t const r = rank, p = ranks;
  switch (how) {
    case division::first_have_more:
      return r * (n / p) + std::min(r, n % p);
    case division::rounded_up:
      return std::min(n, r * ((n + p - 1) / p));
    case division::all_on_the_last:
      return rank == ranks ? n : 0;
    case division::reversed:
      return 0;  // not asked for
  }
  return 0;
}

inline boxes_of_rank rows_of(division how, std::int64_t n, std::int64_t m, int rank, int ranks) {
  if (how == division::reversed) {
    int const mirrored = ranks - 1 - rank;
    return rows_of(division::first_have_more, n, m, mirrored, ranks);
  }
  return {{begin_of(how, n, rank, ranks), begin_of(how, n, rank + 1, ranks), 0, m}};
}

inline boxes_of_rank columns_of(division how, std::int64_t n, std::int64_t m, int rank, int ranks) {
  matrix_box const b = rows_of(how, m, n, rank, ranks)[0];
  return {{b.j0, b.j1, b.i0, b.i1}};
}

/// Squares of two by two, dealt like the fields of a board; some ranks have none.
inline boxes_of_rank fields_of(std::int64_t n, std::int64_t m, int rank, int ranks) {
  boxes_of_rank found;
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < n; i += 2)
    for (std::int64_t j = 0; j < m; j += 2)
      if (number++ % ranks == rank) found.push_back({i, std::min(i + 2, n), j, std::min(j + 2, m)});
  return found;
}

inline bool has(boxes_of_rank const& boxes, std::int64_t i, std::int64_t j) {
  for (matrix_box const& b : boxes)
    if (b.has(i, j)) return true;
  return false;
}

}  // namespace ostraka::testing
