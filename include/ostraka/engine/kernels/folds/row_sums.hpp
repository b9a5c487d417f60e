// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Adds rows to a row of sums: S[i] += sum over r of X[r, i] Y[r, i], r < run. It takes four rows at a time,
/// which saves reads and writes of the sums. It uses wide vectors although memory is the limit: a core looks a few
/// hundred instructions ahead, and with wider vectors these request more cache lines (1.6 times the speed on rows of 64
/// doubles).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine::detail {

/// True if rows should be read one after the other, in the order of memory: adjacent rows of several cache lines and
/// less than a page, unless four of them fit the prefetched range, or the caches hold them. No prefetcher follows a
/// core that alternates between four places.
template <class T>
bool is_read_in_order(stream_of_rows<T> const& rows) {
  return !rows.is_cached && rows.step == rows.count && rows.count * std::int64_t(sizeof(T)) >= 512 &&
         rows.count < rows.page && !rows.is_near(4);
}

/// sums[i] <- sums[i] + the sum over r < run of term(r)(i), with add(x, y) for x + y: one row after the other, or four
/// at once, which saves passes over the sums. Terms come from these rows, which do not overlap the sums; term(r) reads
/// values that are constant in a row once.
template <class T, class Add, class Term, class X, class... Xs>
void add_rows(T* __restrict sums, std::int64_t count, std::int64_t run, Add const add, Term const term,
              stream_of_rows<X> const x, stream_of_rows<Xs> const... others) {
  std::int64_t r = 0;
  for (bool const in_order = is_read_in_order(x); !in_order && r + 4 <= run; r += 4) {
    x.prefetch_beyond(r, 4), (others.prefetch_beyond(r, 4), ...);
    for_each_independent(count, [=, a = term(r), b = term(r + 1), c = term(r + 2), d = term(r + 3)](std::int64_t i) {
      sums[i] = add(add(add(add(sums[i], a(i)), b(i)), c(i)), d(i));
    });
  }
  for (; r < run; ++r) {
    for_each_independent(count, [=, a = term(r)](std::int64_t i) { sums[i] = add(sums[i], a(i)); });
    asm("" : "+r"(r));  // otherwise compilers would take two rows at once
  }
}

/// The same with wide vectors; but not for complex numbers, which have no vector kernels, and for small integers, which
/// few programs sum. @pre has_wide_vectors(), as for all functions below
template <class T, class Term, class... Xs>
void add_wide_rows(T* sums, std::int64_t count, std::int64_t run, Term const& term, stream_of_rows<Xs> const&... rows) {
  auto const plus = [](T const& x, T const& y) { return T(x + y); };
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4)
    in_wide_vectors([=] { add_rows(sums, count, run, plus, term, rows...); });
  else
    add_rows(sums, count, run, plus, term, rows...);
}

/// sums[i] += sum over r < run of x[r next + i]
template <class T, class Element>
void sum_rows(T* sums, std::int64_t count, Element const* x, std::int64_t next, std::int64_t run) {
  add_wide_rows(
      sums, count, run, [=](std::int64_t r) { return [row = x + r * next](std::int64_t i) { return T(row[i]); }; },
      stream_of_rows<Element>{x, count, next, run});
}

/// sums[i] += sum over r < run of x[r x_next + i] y[r y_next]
template <class T>
void sum_scaled_rows(T* sums, std::int64_t count, T const* x, std::int64_t x_next, T const* y, std::int64_t y_next,
                     std::int64_t run, bool is_cached = false) {
  add_wide_rows(
      sums, count, run,
      [=](std::int64_t r) {
        return [row = x + r * x_next, factor = y[r * y_next]](std::int64_t i) { return row[i] * factor; };
      },
      stream_of_rows<T>{x, count, x_next, run, is_cached});
}

/// sums[i] += sum over r < run of x[r x_next + i] y[r y_next + i]
template <class T>
void sum_row_products(T* sums, std::int64_t count, T const* x, std::int64_t x_next, T const* y, std::int64_t y_next,
                      std::int64_t run) {
  add_wide_rows(
      sums, count, run,
      [=](std::int64_t r) { return [a = x + r * x_next, b = y + r * y_next](std::int64_t i) { return a[i] * b[i]; }; },
      stream_of_rows<T>{x, count, x_next, run}, stream_of_rows<T>{y, count, y_next, run});
}

}  // namespace ostraka::engine::detail
