// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Products of small matrices with an innermost batch, against one plain loop over all labels: tiles of every shape,
/// batches that fill less than a vector, one, and more than several, gaps, loops around, long sums, C <- alpha A B +
/// beta C, elements of 16 bits.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// "ikb,kjb->ijb": labels stand in the order of memory, the fastest last; after each but the last a gap. Extents by
/// letter from b = 0.
contraction problem_of(std::string const& text, std::string const& letters, std::vector<std::int64_t> const& extents,
                       std::int64_t gap) {
  std::size_t const comma = text.find(','), arrow = text.find("->");
  std::string const parts[3] = {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                                text.substr(arrow + 2)};
  contraction p;
  p.labels = static_cast<int>(letters.size());
  for (int l = 0; l < p.labels; ++l) p.extent[l] = extents[static_cast<std::size_t>(l)];
  for (int o = 0; o < 3; ++o) {
    std::int64_t step = 1;
    for (std::size_t i = parts[o].size(); i-- > 0;) {
      std::size_t const l = letters.find(parts[o][i]);
      (o == 0 ? p.in_a : o == 1 ? p.in_b : p.in_c)[l] = true;
      (o == 0 ? p.a : o == 1 ? p.b : p.c)[l] = step;
      step = step * extents[l] + gap;
    }
  }
  return p;
}

std::int64_t room_of(contraction const& p, std::int64_t const* stride) {
  std::int64_t last = 0;
  for (int l = 0; l < p.labels; ++l) last += (p.extent[l] - 1) * stride[l];
  return last + 1;
}

/// Integers: all sums are exact.
template <class T>
std::vector<T> numbers(std::int64_t count, int modulus) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = T(static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - modulus / 2));
  return v;
}

/// The expected C, and NaN if beta = 0 and nothing is written.
template <class T>
std::vector<T> by_loops(contraction const& p, std::vector<T> const& a, std::vector<T> const& b, std::vector<T> const& c,
                        double alpha, double beta) {
  std::vector<double> sum(c.size(), 0.0);
  std::vector<bool> written(c.size(), false);
  std::int64_t all = 1;
  for (int l = 0; l < p.labels; ++l) all *= p.extent[l];
  for (std::int64_t i = 0; i < all; ++i) {
    std::int64_t rest = i;
    std::size_t at_a = 0, at_b = 0, at_c = 0;
    for (int l = p.labels - 1; l >= 0; --l) {
      std::int64_t const index = rest % p.extent[l];
      rest /= p.extent[l];
      at_a += static_cast<std::size_t>(p.a[l] * index);
      at_b += static_cast<std::size_t>(p.b[l] * index);
      at_c += static_cast<std::size_t>(p.c[l] * index);
    }
    sum[at_c] += static_cast<double>(a[at_a]) * static_cast<double>(b[at_b]);
    written[at_c] = true;
  }
  std::vector<T> result = c;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (written[i])
      result[i] = T(static_cast<float>(alpha * sum[i] + (beta == 0 ? 0 : beta * static_cast<double>(c[i]))));
  return result;
}

template <class T>
bool same(std::vector<T> const& x, std::vector<T> const& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i]) && !(std::isnan(static_cast<double>(x[i])) && std::isnan(static_cast<double>(y[i]))))
      return false;
  return true;
}

/// By our kernels alone if there are some for T, and by the algorithm that the engine chooses.
template <class T>
void check(std::string const& text, std::string const& letters, std::vector<std::int64_t> const& extents,
           std::int64_t gap = 0) {
  contraction const p = problem_of(text, letters, extents, gap);
  std::vector<T> const a = numbers<T>(room_of(p, p.a), 5), b = numbers<T>(room_of(p, p.b), 3);
  std::string sizes;
  for (std::int64_t n : extents) sizes.append(" ").append(std::to_string(n));
  for (auto const& [alpha, beta] : std::vector<std::pair<float, float>>{{1, 0}, {1, 1}, {2, 0}, {-1, 2}}) {
    std::vector<T> before = numbers<T>(room_of(p, p.c), 7);
    if (beta == 0) std::fill(before.begin(), before.end(), T(std::nanf("")));
    std::vector<T> const expected = by_loops(p, a, b, before, alpha, beta);
    using factor = ostraka::accumulator_of_t<T>;
    update<T> const how{factor(alpha), factor(beta)};
    std::vector<T> c = before;
    contract(exec_space(), p, a.data(), b.data(), c.data(), how);
    Kokkos::fence();
    CHECK_MESSAGE(same(c, expected), text << sizes << " gap " << gap << " alpha " << alpha << " beta " << beta);
    if constexpr (std::is_floating_point_v<T>) {
      c = before;
      detail::contract_portable(exec_space(), p, a.data(), b.data(), c.data(), how);
      Kokkos::fence();
      CHECK_MESSAGE(same(c, expected),
                    text << sizes << " gap " << gap << " alpha " << alpha << " beta " << beta << ", our kernels");
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("small products side by side: every tile and every end of a batch", T, float, double) {
  for (std::int64_t m : {1, 2, 3, 4, 5, 8})
    for (std::int64_t n : {1, 2, 3, 4, 7})
      for (std::int64_t batch : {2, 3, 4, 7, 8, 15, 17, 37})
        check<T>("ikb,kjb->ijb", "bijk", {batch, m, n, 3}, batch % 2);
}

TEST_CASE_TEMPLATE("small products side by side: any order of the other labels, gaps, loops around", T, float, double,
                   ostraka::float16, ostraka::bfloat16) {
  for (std::int64_t gap : {0, 3}) {
    check<T>("kib,jkb->jib", "bijk", {41, 3, 5, 4}, gap);
    check<T>("ijb,jb->ib", "bij", {100, 8, 6}, gap);
    check<T>("jb,jib->ib", "bij", {19, 6, 9}, gap);
    check<T>("nikb,knjb->ijnb", "bijkn", {21, 4, 3, 2, 5}, gap);
    check<T>("ipkqb,qkjb->jpib", "bijkpq", {18, 3, 2, 3, 4, 2}, gap);
    check<T>("ikb,kjb->ijb", "bijk", {3000, 3, 3, 3}, gap);
  }
}

TEST_CASE_TEMPLATE("side by side, but not so small: long sums, many rows", T, float, double) {
  check<T>("ikb,kjb->ijb", "bijk", {19, 3, 2, 600}, 1);
  check<T>("ikb,kjb->ijb", "bijk", {9, 70, 66, 5});
  check<T>("ikb,kjb->ijb", "bijk", {17, 127, 2, 3});
}

TEST_CASE("which products are done side by side") {
  auto const worth = [](std::string const& text, std::string const& letters, std::vector<std::int64_t> const& extents) {
    return detail::is_batch_vectorised<double>(loops_of(problem_of(text, letters, extents, 0)));
  };
#if OSTRAKA_DETAIL_X86
  CHECK(worth("ikb,kjb->ijb", "bijk", {8, 4, 4, 4}));
  CHECK(worth("nikb,nkjb->nijb", "bijkn", {8, 4, 4, 4, 3}));
#endif
  CHECK_FALSE(worth("bik,bkj->bij", "bijk", {8, 4, 4, 4}));
  CHECK_FALSE(worth("ikb,bkj->ijb", "bijk", {8, 4, 4, 4}));
  CHECK_FALSE(worth("ikb,kjb->ijb", "bijk", {1, 4, 4, 4}));
  CHECK_FALSE(worth("ib,jb->ijb", "bij", {8, 4, 4}));
  CHECK_FALSE(worth("kb,kb->b", "bk", {8, 4}));
}
