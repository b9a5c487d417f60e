// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Rows added to a row of sums: S[i] += sum over r of X[r, i] Y[r, i], r < run. Four rows at a time, because
/// the sums are read and written each time, and in wide vectors even though memory is what bounds it: a core looks some
/// hundred instructions ahead, and the wider they are the more cache lines it asks for meanwhile (1.6 times the speed
/// on rows of 64 doubles).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine::detail {

/// Rows x[r next + i], i < count. Those shorter than a page that lie side by side make one stream, of which processors
/// do not foresee the next page when several of its lines are read at once: it is asked for.
template <class T>
struct ask_for_rows {
  T const* x;
  std::int64_t count, next;

  /// For `rows` rows, while row r is read.
  void operator()(std::int64_t r, std::int64_t rows) const {
    if (next == count && count < elements_of_page<T>) ask_for(x + r * next + elements_of_page<T>, rows * next);
  }
};

/// sums[i] <- sums[i] + the sum over r < run of term(r, i), with add(x, y) for x + y, four rows at once, which spares
/// passes over the sums. Terms do not overlap the sums.
template <class T, class Ask, class Add, class Term>
void add_rows(T* __restrict sums, std::int64_t count, std::int64_t run, Ask const ask, Add const add, Term const term) {
  std::int64_t r = 0;
  for (; r + 4 <= run; r += 4) {
    ask(r, 4);
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] = add(add(add(add(sums[i], term(r, i)), term(r + 1, i)), term(r + 2, i)), term(r + 3, i));
  }
  for (; r < run; ++r)
    for (std::int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], term(r, i));
}

/// Complex numbers have no vector kernels, and few programs sum small integers, so nothing is compiled three times for
/// them.
template <class T, class Ask, class Term>
void add_wide_rows(T* sums, std::int64_t count, std::int64_t run, Ask const& ask, Term const& term) {
  auto const plus = [](T const& x, T const& y) { return T(x + y); };
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4)
    with_wide_vectors([=] { add_rows(sums, count, run, ask, plus, term); });
  else
    add_rows(sums, count, run, ask, plus, term);
}

/// sums[i] += sum over r < run of x[r next + i]
template <class T, class Element>
void sum_rows(T* sums, std::int64_t count, Element const* x, std::int64_t next, std::int64_t run) {
  add_wide_rows(sums, count, run, ask_for_rows<Element>{x, count, next},
                [=](std::int64_t r, std::int64_t i) { return T(x[r * next + i]); });
}

/// sums[i] += sum over r < run of x[r x_next + i] y[r y_next]
template <class T>
void sum_scaled_rows(T* sums, std::int64_t count, T const* x, std::int64_t x_next, T const* y, std::int64_t y_next,
                     std::int64_t run) {
  add_wide_rows(sums, count, run, ask_for_rows<T>{x, count, x_next},
                [=](std::int64_t r, std::int64_t i) { return x[r * x_next + i] * y[r * y_next]; });
}

/// sums[i] += sum over r < run of x[r x_next + i] y[r y_next + i]
template <class T>
void sum_row_products(T* sums, std::int64_t count, T const* x, std::int64_t x_next, T const* y, std::int64_t y_next,
                      std::int64_t run) {
  ask_for_rows<T> const of_x{x, count, x_next}, of_y{y, count, y_next};
  add_wide_rows(sums, count, run, [=](std::int64_t r, std::int64_t rows) { of_x(r, rows), of_y(r, rows); },
                [=](std::int64_t r, std::int64_t i) { return x[r * x_next + i] * y[r * y_next + i]; });
}

}  // namespace ostraka::engine::detail
