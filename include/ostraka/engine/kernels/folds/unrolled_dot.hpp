// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sums of contiguous runs: S[i] += sum over r of X[i, r] Y[i, r]. Short runs are read one after the other in
/// the order of memory, as the processor prefetches them. The four quarters of a long run are summed at once: a core
/// that reads from four places prefetches more, and can begin an addition before another ends.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/lanes.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#if OSTRAKA_DETAIL_X86
#  include <ostraka/engine/kernels/x86/rows_at_once.hpp>
#endif

namespace ostraka::engine::detail {

/// The number of independent sums in one run. Compilers would unroll a shorter loop before they vectorise.
inline constexpr int fold_lanes = 16;

/// The fewest terms of a run that is summed with four times as many independent sums.
inline constexpr std::int64_t worth_four_sums = 16 * fold_lanes;

/// The fewest terms of a run whose quarters are summed at once.
template <class T>
inline constexpr std::int64_t worth_quarters = 65536 / static_cast<std::int64_t>(sizeof(T));

/// Returns the sum over r < run of term(r). A long run has four times as many independent sums, of neighbours or of its
/// quarters; quarters are worth it if each has several pages.
template <bool is_long, class T, class Term>
T sum_of_run(std::int64_t run, Term const& term) {
  constexpr std::int64_t lanes = fold_lanes, four = 4 * lanes;
  T side[lanes];
  for (int l = 0; l < lanes; ++l) side[l] = T(0);
  std::int64_t r = 0;
  if constexpr (is_long) {
    bool const quarters = run >= worth_quarters<T>;
    std::int64_t const apart = quarters ? run / four * lanes : lanes, next = quarters ? lanes : four,
                       summed = run / four * four, end = quarters ? apart : summed;
    T second[lanes], third[lanes], fourth[lanes];
    for (int l = 0; l < lanes; ++l) second[l] = third[l] = fourth[l] = T(0);
    for (; r < end; r += next)
      for (int l = 0; l < lanes; ++l) {
        side[l] += term(r + l);
        second[l] += term(apart + r + l);
        third[l] += term(2 * apart + r + l);
        fourth[l] += term(3 * apart + r + l);
      }
    for (int l = 0; l < lanes; ++l) side[l] += second[l] + third[l] + fourth[l];
    r = summed;
  }
  for (; r + lanes <= run; r += lanes)
    for (int l = 0; l < lanes; ++l) side[l] += term(r + l);
  return add_in_turn(sum_of_lanes<lanes>(side), r, run, term);
}

/// Prefetches nothing.
struct nothing_ahead {
  void operator()(std::int64_t, std::int64_t) const {}
};

/// Prefetches runs x[i next + r] two pages ahead. Always inlined, like prefetch.
template <class X>
struct two_pages_ahead {
  X const* x;
  std::int64_t next;
  [[gnu::always_inline]] void operator()(std::int64_t i, std::int64_t r) const {
    prefetch(x + i * next + r + 2 * elements_of_page<X>, 4 * fold_lanes);
  }
};

/// sums[i] += sum over r < run of term(i, r), i < 4, each in the order of sum_of_run<true>, but without quarters. Sums
/// one run after the other up to the last 64 terms or fewer, which are too few to keep a core busy: these are summed
/// for all four runs at once. `begin`: the first of the four runs, for `ahead`.
template <class T, class Term, class Ahead>
[[gnu::always_inline]] inline void add_four_runs(T* sums, std::int64_t run, Term const& term, Ahead const& ahead,
                                                 std::int64_t begin) {
  constexpr std::int64_t lanes = fold_lanes;
  std::int64_t const whole = run / (4 * lanes) * (4 * lanes);
  T side[4][lanes];
  for (int i = 0; i < 4; ++i) {
    T first[lanes], second[lanes], third[lanes], fourth[lanes];
    for (int l = 0; l < lanes; ++l) first[l] = second[l] = third[l] = fourth[l] = T(0);
    for (std::int64_t r = 0; r < whole; r += 4 * lanes) {
      ahead(begin + i, r);
      for (int l = 0; l < lanes; ++l) {
        first[l] += term(i, r + l);
        second[l] += term(i, lanes + r + l);
        third[l] += term(i, 2 * lanes + r + l);
        fourth[l] += term(i, 3 * lanes + r + l);
      }
    }
    for (int l = 0; l < lanes; ++l) side[i][l] = first[l] + (second[l] + third[l] + fourth[l]);
  }
  std::int64_t r = whole;
  for (; r + lanes <= run; r += lanes)
    for (int l = 0; l < lanes; ++l) {
      side[0][l] += term(0, r + l);
      side[1][l] += term(1, r + l);
      side[2][l] += term(2, r + l);
      side[3][l] += term(3, r + l);
    }
  T sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = sum_of_lanes<lanes>(side[i]);
  for (; r < run; ++r) {
    for (int i = 0; i < 4; ++i) sum[i] += term(i, r);
    asm("" : "+r"(r));  // as in add_in_turn
  }
  for (int i = 0; i < 4; ++i) sums[i] += sum[i];
}

/// sums[i] += sum over r < run of term(i, r), i < count. ahead(i, r) may prefetch while 64 terms from term r on are
/// read.
template <class T, class Term, class Ahead = nothing_ahead>
void add_runs(T* sums, std::int64_t count, std::int64_t run, Term const& term, Ahead const& ahead = {}) {
  std::int64_t i = 0;
  if (run < worth_four_sums) {
    for (; i < count; ++i) sums[i] += sum_of_run<false, T>(run, [=](std::int64_t r) { return term(i, r); });
    return;
  }
  for (; run < worth_quarters<T> && i + 4 <= count; i += 4)
    add_four_runs(
        sums + i, run, [=](std::int64_t k, std::int64_t r) { return term(i + k, r); }, ahead, i);
  for (; i < count; ++i) sums[i] += sum_of_run<true, T>(run, [=](std::int64_t r) { return term(i, r); });
}

/// sums[i] += sum over r < run of x[i next + r]. @pre has_wide_vectors(), as for the next one
template <class T, class Element>
void sum_runs(T* sums, std::int64_t count, Element const* x, std::int64_t next, std::int64_t run) {
  in_wide_vectors(
      [=] { add_runs(sums, count, run, [=](std::int64_t i, std::int64_t r) { return T(x[i * next + r]); }); });
}

/// sums[i] += sum over r < run of a[i next + r] x[r] for the first rows, two or four at once. Returns the number of
/// rows done: 0 without the registers of AVX-512, and 0 for rows so long that their quarters are summed at once.
template <class T>
std::int64_t add_rows_at_once([[maybe_unused]] T* sums, [[maybe_unused]] std::int64_t count,
                              [[maybe_unused]] T const* a, [[maybe_unused]] std::int64_t next,
                              [[maybe_unused]] T const* x, [[maybe_unused]] std::int64_t run) {
#if OSTRAKA_DETAIL_X86
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    std::int64_t const rows = count / 2 * 2;
    if (rows == 0 || run >= worth_quarters<T> || widest_vectors() != vector_width::avx512) return 0;
    run_with_avx512([=] {
      std::int64_t i = 0;
      if (run < worth_four_sums) {
        for (; i < rows; i += 2) rows_at_once<T, 1, 2>(a + i * next, next, x).add_to(sums + i, run);
      } else {
        for (; i + 4 <= rows; i += 4) rows_at_once<T, 4, 4>(a + i * next, next, x).add_to(sums + i, run);
        if (i < rows) rows_at_once<T, 4, 2>(a + i * next, next, x).add_to(sums + i, run);
      }
    });
    return rows;
  }
#endif
  return 0;
}

/// sums[i] += sum over r < run of x[i x_next + r] y[i y_next + r]
template <class T>
void sum_run_products(T* sums, std::int64_t count, T const* x, std::int64_t x_next, T const* y, std::int64_t y_next,
                      std::int64_t run) {
  bool const is_vector = y_next == 0;  // its elements are read once for several rows
  std::int64_t const begin = is_vector ? add_rows_at_once(sums, count, x, x_next, y, run) : 0;
  if (begin == count) return;
  in_wide_vectors([=] {
    T* const to = sums + begin;
    T const* const rows = x + begin * x_next;
    if (is_vector)
      add_runs(to, count - begin, run, [=](std::int64_t i, std::int64_t r) { return rows[i * x_next + r] * y[r]; });
    else
      add_runs(to, count, run,
               [=](std::int64_t i, std::int64_t r) { return rows[i * x_next + r] * y[i * y_next + r]; });
  });
}

}  // namespace ostraka::engine::detail
