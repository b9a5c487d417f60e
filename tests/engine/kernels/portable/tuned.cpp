// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// A matrix times a vector, compiled as with -mtune=znver3: a row among others has the bits that it has alone, although
/// g++ then fuses some products and sums, and others not. (streams.cpp compares rows as the library was compiled.)
// ranks: 1
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#  pragma GCC target("tune=znver3")
#endif
#include <doctest/doctest.h>

#include <cstdint>

#include "engine/kernels/rows_as_alone.hpp"

TEST_CASE_TEMPLATE("rows of every length, two or four of which are summed at once", T, float, double) {
  for (std::int64_t const length : {1, 2, 3, 5, 8, 15, 16, 17, 31, 63, 65, 96, 255, 256, 257, 271, 319, 320, 511, 1030})
    for (std::int64_t const rows : {1, 2, 3, 4, 5, 6, 7, 9, 70, 90}) {
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(ostraka::testing::rows_are_as_alone<T>(rows, length));
    }
}
