// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Our own kernels against plain loops, beyond one tile, one piece and one thread's share: copies of up to five
/// dimensions in every order, folds in every arrangement, products of matrices without a library by every micro-kernel
/// that the processor has, maps of operands in different layouts.
// ranks: 1
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/portable/contract_portable.hpp>
#include <ostraka/engine/kernels/reduce.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// "ij,j->i": labels stand in the order of memory, the fastest last. Extents by letter from i.
contraction problem_of(std::string const& text, std::vector<std::int64_t> const& extents) {
  std::size_t const arrow = text.find("->"), comma = std::min(text.find(','), arrow);
  std::string const parts[3] = {text.substr(0, comma), comma < arrow ? text.substr(comma + 1, arrow - comma - 1) : "",
                                text.substr(arrow + 2)};
  contraction p;
  p.labels = static_cast<int>(extents.size());
  for (int o = 0; o < 3; ++o) {
    std::int64_t step = 1;
    for (std::size_t i = parts[o].size(); i-- > 0;) {
      int const l = parts[o][i] - 'i';
      (o == 0 ? p.in_a : o == 1 ? p.in_b : p.in_c)[l] = true;
      (o == 0 ? p.a : o == 1 ? p.b : p.c)[l] = step;
      step *= extents[static_cast<std::size_t>(l)];
    }
  }
  for (int l = 0; l < p.labels; ++l) p.extent[l] = extents[static_cast<std::size_t>(l)];
  return p;
}

template <class T>
std::vector<T> numbers(std::int64_t count, int modulus = 9) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = T(static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - 3));
  return v;
}

/// alpha A B + beta C by one loop over all labels; without b if there is none.
template <class T>
std::vector<T> by_loops(contraction const& p, T const* a, T const* b, std::vector<T> const& c, update<T> const& how) {
  std::vector<T> sum(c.size(), T(0));
  std::int64_t all = 1;
  for (int l = 0; l < p.labels; ++l) all *= p.extent[l];
  for (std::int64_t i = 0; i < all; ++i) {
    std::int64_t rest = i, at[3] = {};
    for (int l = p.labels - 1; l >= 0; --l) {
      std::int64_t const index = rest % p.extent[l];
      rest /= p.extent[l];
      at[0] += p.a[l] * index, at[1] += p.b[l] * index, at[2] += p.c[l] * index;
    }
    sum[static_cast<std::size_t>(at[2])] += b ? a[at[0]] * b[at[1]] : a[at[0]];
  }
  for (std::size_t i = 0; i < c.size(); ++i) sum[i] = how.alpha * sum[i] + (how.beta == T(0) ? T(0) : how.beta * c[i]);
  return sum;
}

template <class T>
bool contracts_right(std::string const& text, std::vector<std::int64_t> const& extents) {
  contraction const p = problem_of(text, extents);
  auto const size = [&](operand which) { return block_of(p, which).size(); };
  std::vector<T> const a = numbers<T>(size(operand::a)), b = numbers<T>(size(operand::b), 11);
  bool const product = text.find(',') != std::string::npos;
  for (update<T> const& how : {update<T>{T(1), T(0)}, update<T>{T(2), T(0)}, update<T>{T(3), T(-2)}}) {
    std::vector<T> c = numbers<T>(size(operand::c), 5);
    std::vector<T> const expected = by_loops(p, a.data(), product ? b.data() : nullptr, c, how);
    if (how.beta == T(0) && !std::is_integral_v<T>) std::fill(c.begin(), c.end(), T(std::nanf("")));
    if (product)
      detail::contract_portable(exec_space(), p, a.data(), b.data(), c.data(), how);
    else
      reduce(exec_space(), p, a.data(), c.data(), reduction::sum, how);
    Kokkos::fence();
    if (c != expected) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("copies of two to five dimensions in every order", T, float, double, Kokkos::complex<double>) {
  for (std::vector<std::int64_t> const& extents : std::vector<std::vector<std::int64_t>>{
           {261, 67}, {33, 70, 5}, {3, 40, 2, 37}, {5, 17, 2, 3, 9}, {600, 2, 3}}) {
    std::size_t const rank = extents.size();
    std::string const labels = std::string("ijklm").substr(0, rank);
    std::string order = labels;
    do CHECK_MESSAGE(contracts_right<T>(labels + "->" + order, extents), labels << "->" << order);
    while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE_TEMPLATE("sums and products of a large block and small ones, in every arrangement", T, double,
                   Kokkos::complex<float>, std::int32_t) {
  for (char const* text : {"ij->i", "ij->j", "ji->i", "ij->", "ij,j->i", "ij,i->j", "ij,ij->", "ij,ji->", "ij,ij->i",
                           "ij,ji->j", "i,j->ij", "i,j->ji", "ij,ji->ij", "ij,ij->ji", "ij,j->ji"})
    for (std::vector<std::int64_t> const& extents : std::vector<std::vector<std::int64_t>>{
             {1100, 70}, {70, 1100}, {4, 30011}, {30011, 4}, {1, 9000}, {9000, 1}, {17, 2000}, {2000, 15}, {3, 5}})
      CHECK_MESSAGE(contracts_right<T>(text, extents), text << " " << extents[0] << " " << extents[1]);
  for (char const* text : {"ijk->ik", "ijk->ki", "ijk->j", "ijk->k", "ijk->kj", "ijk->ji", "ijk,k->ji", "ijk,ki->j",
                           "ijk,ik->j", "ijk,j->ik", "ijk,ij->k", "kji,jk->ik", "ik,jk->ijk"})
    for (std::vector<std::int64_t> const& extents :
         std::vector<std::vector<std::int64_t>>{{40, 35, 50}, {3, 900, 12}, {900, 12, 3}, {12, 3, 2000}, {2, 3, 2}})
      CHECK_MESSAGE(contracts_right<T>(text, extents),
                    text << " " << extents[0] << " " << extents[1] << " " << extents[2]);
}

TEST_CASE_TEMPLATE("products of matrices by our own tiles, in every layout", T, float, double, Kokkos::complex<double>,
                   std::int32_t, std::int64_t) {
  for (char const* a : {"ik", "ki"})
    for (char const* b : {"kj", "jk"})
      for (char const* c : {"ij", "ji"})
        for (std::vector<std::int64_t> const& extents : std::vector<std::vector<std::int64_t>>{
                 {130, 140, 150}, {250, 6, 37}, {9, 3, 300}, {121, 129, 1}, {8, 8, 8}, {43, 50, 600}})
          CHECK_MESSAGE(contracts_right<T>(std::string(a) + "," + b + "->" + c, extents), a << b << c << extents[0]);
  CHECK(contracts_right<T>("lik,klj->lij", {30, 40, 20, 3}));
  CHECK(contracts_right<T>("lik,mklj->jmi", {30, 40, 20, 3, 5}));
  CHECK(contracts_right<T>("ik,kj->ij", {9, 2100, 3}));            // several blocks of columns
  CHECK(contracts_right<T>("ik,kj->ij", {9, 1030, 300}));          // columns far from the caches, read in place
  CHECK(contracts_right<T>("ik,kj->ij", {1100, 5, 270}));          // and rows
  CHECK(contracts_right<T>("ik,klj->lij", {50, 10, 20, 7}));       // tiles whose rows are runs of C
  CHECK(contracts_right<T>(
      "lmji,mk->ijkl", {10, 12, 11, 9, 12}));  // few neighbours in A, and in C: tiles of few rows, written run by run
  CHECK(contracts_right<T>("imjn,lnkm->ijkl", {9, 8, 10, 7, 8, 9}));
  for (std::int64_t const rows :
       {3, 8, 11, 17})  // one block of rows, several of columns with a short sum: packed and met in the first cache
    for (std::vector<std::int64_t> const& sides :
         std::vector<std::vector<std::int64_t>>{{8, 16}, {9, 7}, {17, 15}, {16, 9}})
      CHECK(contracts_right<T>("lmji,mk->ijkl", {sides[0], 12, rows, sides[1], 12}));
}

TEST_CASE_TEMPLATE("every micro-kernel that this processor has", T, float, double, std::int32_t, std::int64_t) {
  std::vector<detail::micro_kernel<T>> kernels = {detail::plain_micro_kernel<T>(), detail::choose_micro_kernel<T>()};
#if OSTRAKA_DETAIL_X86
  if (detail::widest_vectors() == detail::vector_width::avx512) kernels.push_back(detail::micro_kernel_32<T>());
#endif
  for (detail::micro_kernel<T> const& kernel : kernels)
    for (std::int64_t depth : {0, 1, 7, 128})
      for (int way = 0; way < 2 * kernel.across; ++way) {
        bool const adds = way % 2 == 1;
        int const vectors = way / 2 + 1, columns = vectors * kernel.lanes, rows = kernel.rows;
        detail::micro_function<T> const product = kernel.of[vectors - 1];
        std::int64_t const apart = depth + 5;  // rows of a where it lies
        std::vector<T> const packed = numbers<T>(depth * rows), b = numbers<T>(depth * (columns + 3), 11);
        std::vector<T> lying(static_cast<std::size_t>(apart * rows)), c = numbers<T>(50 * rows, 5), expected = c,
                                                                      again = c;
        for (int i = 0; i < rows; ++i)
          for (std::int64_t l = 0; l < depth; ++l)
            lying[static_cast<std::size_t>(i * apart + l)] = packed[static_cast<std::size_t>(l * rows + i)];
        std::vector<std::int64_t> row_at;
        for (int i = 0; i < rows; ++i) row_at.push_back((rows - 1 - i) * 50);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            T& sum = expected[static_cast<std::size_t>(row_at[static_cast<std::size_t>(i)] + j)];
            if (!adds) sum = T(0);
            for (std::int64_t l = 0; l < depth; ++l)
              sum +=
                  packed[static_cast<std::size_t>(l * rows + i)] * b[static_cast<std::size_t>(l * (columns + 3) + j)];
          }
        detail::micro_lines<T> const columns_of{b.data(), 1, columns + 3};
        product(depth, {packed.data(), 1, rows}, columns_of, c.data(), row_at.data(), adds);
        product(depth, {lying.data(), apart, 1}, columns_of, again.data(), row_at.data(), adds);
        CHECK(c == expected);
        CHECK(again == expected);
      }
}

/// Offsets in runs of `run`, each run `gap` beyond the one before; descending if `down`.
std::vector<std::int64_t> offsets_in_runs(int count, int run, std::int64_t gap, bool down) {
  std::vector<std::int64_t> at;
  for (int i = 0; i < count; ++i) at.push_back((down ? count - i / run : i / run) * (run + gap) + i % run);
  return at;
}

TEST_CASE_TEMPLATE("panels of operands whose neighbours are few", T, float, double, std::int32_t, std::int64_t,
                   Kokkos::complex<float>) {
  std::vector<T> const from = numbers<T>(4000, 101);
    for (int const width : {4, 8, 24, 48})
      for (int const count : {1, 3, 4, 7, 8, 9, 17, 23, 24, 41, 48})
        for (int const run : {1, 2, 5, 7, 9, 13, 30})
          for (int const k_run : {1, 3, 9, 20})
            for (bool const down : {false, true}) {
              if (count > width || (run == 1 && k_run == 1)) continue;
              int const depth = 21;
              std::vector<std::int64_t> const at = offsets_in_runs(count, run, 17, down),
                                              k_at = offsets_in_runs(depth, k_run, 29, down);
              std::vector<T> panel(static_cast<std::size_t>(width * depth + 1), T(77)), expected = panel;
              for (int l = 0; l < depth; ++l)
                for (int i = 0; i < width; ++i)
                  expected[static_cast<std::size_t>(l * width + i)] =
                      i < count ? from[static_cast<std::size_t>(at[static_cast<std::size_t>(i)] +
                                                                k_at[static_cast<std::size_t>(l)])]
                                : T(0);
              detail::pack_panel(panel.data(), width, from.data(), at.data(), count, k_at.data(), depth);
              CHECK_MESSAGE(panel == expected, width << " " << count << " " << run << " " << k_run << " " << down);
            }
}

TEST_CASE("where the iterations of two nested loops stand, from any of them on, and where the second operand jumps") {
  for (std::int64_t const inner : {1, 2, 7, 8, 9, 16, 17})
    for (std::int64_t const outer : {1, 2, 5, 13})
      for (std::int64_t const apart : {inner, inner + 3}) {
        loop_nest<2> loops;
        loops.add(outer, std::int64_t(1), apart);
        loops.add(inner, std::int64_t(100), std::int64_t(1));
        std::int64_t const all = inner * outer;
        for (std::int64_t first = 0; first < all; first += 4) {
          auto const where = [&](std::int64_t i, int o) {
            return o == 0 ? i / inner + i % inner * 100 : i / inner * apart + i % inner;
          };
          detail::offsets_of_run<240> run;
          run.move_to(loops, first, all - first);
          std::int64_t wrong = 0;
          for (std::int64_t i = first; i < all; ++i)
            for (int o = 0; o < 2; ++o) wrong += run.at[o][i - first] != where(i, o);
          for (std::int64_t i = first; i < all; i += 24) {
            std::int64_t const width = std::min<std::int64_t>(24, all - i);
            std::uint64_t breaks = 0;
            for (std::int64_t j = 1; j < width; ++j)
              breaks |= std::uint64_t(where(i + j, 1) != where(i + j - 1, 1) + 1) << j;
            wrong += run.breaks(static_cast<int>(i - first), static_cast<int>(width)) != breaks;
          }
          CHECK_MESSAGE(wrong == 0, inner << " " << outer << " " << apart << " from " << first);
        }
      }
}

TEST_CASE_TEMPLATE("tiles written into runs of a result", T, float, double, std::int32_t, std::int64_t,
                   Kokkos::complex<float>) {
  update<T> const ways[] = {{T(1), T(0)}, {T(1), T(1)}, {T(2), T(0)}, {T(2), T(3)}};
  constexpr int lanes = 64 / static_cast<int>(sizeof(T)), whole = 3 * lanes;
    for (int const width : {1, 2, 7, lanes, lanes + 1, 2 * lanes - 1, whole - 1, whole})
      for (int const run : {1, 2, 3, 9, 10, 19, 64})
        for (int const height : {1, 3, 8, 11})
          for (update<T> const& how : ways) {
            std::vector<std::int64_t> const column_at = offsets_in_runs(width, run, run == 9 ? 0 : 6, run == 10);
            std::vector<std::int64_t> const row_at = offsets_in_runs(height, 1, 900, run == 3);
            std::vector<T> const tile = numbers<T>(11 * whole, 13);
            std::vector<T> c = numbers<T>(11000, 7), expected = c;
            for (int i = 0; i < height; ++i)
              for (int j = 0; j < width; ++j) {
                T& x = expected[static_cast<std::size_t>(row_at[static_cast<std::size_t>(i)] +
                                                         column_at[static_cast<std::size_t>(j)])];
                x = how.alpha * tile[static_cast<std::size_t>(i * whole + j)] +
                    (how.beta == T(0) ? T(0) : how.beta * x);
              }
            std::uint64_t breaks = 0;
            for (std::size_t j = 1; j < column_at.size(); ++j)
              breaks |= std::uint64_t(column_at[j] != column_at[j - 1] + 1) << j;
            detail::write_tile(how, c.data(), tile.data(), whole, row_at.data(), height, column_at.data(),
                               width, breaks);
            CHECK_MESSAGE(c == expected, width << " " << run << " " << height);
          }
}

TEST_CASE_TEMPLATE("panels packed from lines and from columns", T, float, double, std::int32_t, std::int64_t,
                   Kokkos::complex<float>) {
  constexpr std::int64_t line = 200;
  std::vector<T> const from = numbers<T>(80 * line, 101);
    for (bool const transposed : {false, true})
      for (int const width : {4, 8, 24, 48})
        for (int const count : {1, 3, 4, 7, 8, 23, 24, 48})
          for (int const depth : {1, 5, 16, 67}) {
            if (count > width) continue;
            std::vector<std::int64_t> at, k_at;
            for (int i = 0; i < count; ++i) at.push_back(transposed ? i * line : i);
            for (int l = 0; l < depth; ++l) k_at.push_back(transposed ? l + (l > 40 ? 9 : 0) : l * line);
            std::vector<T> panel(static_cast<std::size_t>(width * depth), T(77)), expected = panel;
            for (int l = 0; l < depth; ++l)
              for (int i = 0; i < width; ++i)
                expected[static_cast<std::size_t>(l * width + i)] =
                    i < count ? from[static_cast<std::size_t>(3 + at[static_cast<std::size_t>(i)] +
                                                              k_at[static_cast<std::size_t>(l)])]
                              : T(0);
            detail::pack_panel(panel.data(), width, from.data() + 3, at.data(), count, k_at.data(), depth);
            CHECK_MESSAGE(panel == expected, transposed << " " << width << " " << count << " " << depth);
          }
}
