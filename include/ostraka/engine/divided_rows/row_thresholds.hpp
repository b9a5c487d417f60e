// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The smallest element of a row that os::sample keeps, for rows that mesh axes may divide: the smallest
/// element above which there are fewer than k elements (top-k), or less than a share of the weight (top-p). Equal
/// elements are kept together. The search goes through the elements' bits, eight at a time, the highest first. Each
/// device counts or weighs the elements of each digit, one message adds these sums, and the digit that passes the bound
/// is the threshold's. Sums are whole numbers, so all meshes find the same threshold.
///
///     [I, V_Y]    256 sums a row, for each byte of an element, all-reduced over Y    →    a threshold of each row

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

#include <ostraka/engine/divided_rows/combine_rows.hpp>
#include <ostraka/engine/kernels/accumulators/extreme_element.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/numbers/sampling.hpp>
#include <ostraka/engine/kernels/rows/row_layout.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The number of values of a digit.
inline constexpr int digit_values = 256;

/// The rows of a block of logits, with their largest elements over all devices.
template <class T>
struct rows_of_logits {
  using largest = typename extreme_element<reduction::max, T>::state;

  row_layout rows;
  T const* x;
  largest const* most;
  double temperature;

  KOKKOS_INLINE_FUNCTION T element(std::int64_t row, std::int64_t k) const {
    return x[rows.first(row) + k * rows.step];
  }

  /// True if the row has a distribution: its largest element exists and is not −∞, and no element is NaN.
  KOKKOS_INLINE_FUNCTION bool is_distribution(std::int64_t row) const {
    return most[row].index() != largest::nowhere && most[row].value > detail::minus_infinity<double>;
  }

  /// The logarithm of the ratio of an element's probability to the largest one. If the largest element is +∞, it is −∞
  /// for finite elements.
  KOKKOS_INLINE_FUNCTION double relative(std::int64_t row, T const& element) const {
    auto const value = static_cast<decltype(largest::value)>(element);
    if (value == most[row].value) return 0;
    return (static_cast<double>(value) - static_cast<double>(most[row].value)) / temperature;
  }
};

/// A threshold during the search: its digits so far, and the sum of all elements above those with these digits.
struct row_threshold {
  std::uint64_t bits;
  std::int64_t above;
  std::int64_t wanted;  ///< the bound on the sum above a kept element
};

/// The bound of a search: a number of elements, or with `weighs` a share of the row's weight.
struct threshold_bound {
  bool weighs;
  std::int64_t count;
  double share;
  double unit;  ///< the weight of the largest element
};

namespace detail {

struct start_threshold {
  row_threshold* found;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const { found[row] = {0, 0, 0}; }
};

struct clear_sum {
  std::int64_t* sums;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { sums[i] = 0; }
};

/// Adds the elements of a run to the sums of their digits. On the host an item is a run of consecutive elements, with
/// its own sums; elsewhere it is one element.
template <class T>
struct add_digits {
  static constexpr std::int64_t run = 4096;

  rows_of_logits<T> in;
  row_threshold const* found;
  row_threshold const* floor;  // elements below it are not counted; null: all are
  threshold_bound bound;
  int shift;      // of the digit
  bool is_first;  // true for the first digit
  std::int64_t* sums;

  KOKKOS_INLINE_FUNCTION bool counts(std::int64_t row, std::uint64_t bits) const {
    return (is_first || (bits ^ found[row].bits) >> (shift + 8) == 0) && (floor == nullptr || bits >= floor[row].bits);
  }
  KOKKOS_INLINE_FUNCTION int digit(std::uint64_t bits) const { return static_cast<int>(bits >> shift & 255); }

  /// Adds one element.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const row = i % in.rows.count();
    if (!in.is_distribution(row)) return;
    T const x = in.element(row, i / in.rows.count());
    std::uint64_t const bits = ordered_bits(x);
    if (!counts(row, bits)) return;
    std::int64_t const amount = bound.weighs ? weight_of(in.relative(row, x), bound.unit) : 1;
    Kokkos::atomic_add(sums + row * digit_values + digit(bits), amount);
  }

  /// Adds a run of elements.
  void add_run(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    if (!in.is_distribution(row)) return;
    std::int64_t own[digit_values]{};
    if (bound.weighs)
      add_weights(row, begin, end, own);
    else
      for (std::int64_t k = begin; k < end; ++k) {
        std::uint64_t const bits = ordered_bits(in.element(row, k));
        own[digit(bits)] += counts(row, bits) ? 1 : 0;
      }
    for (int d = 0; d < digit_values; ++d)
      if (own[d] != 0) Kokkos::atomic_add(sums + row * digit_values + d, own[d]);
  }

 private:
  void add_weights(std::int64_t row, std::int64_t begin, std::int64_t end, std::int64_t (&own)[digit_values]) const {
    double x[weighed_together];
    std::int64_t weights[weighed_together];
    int digits[weighed_together];
    int waiting = 0;
    auto const add = [&] {
      for (int i = waiting; i < weighed_together; ++i) x[i] = least_weighed;
      weigh(x, bound.unit, weights);
      for (int i = 0; i < waiting; ++i) own[digits[i]] += weights[i];
      waiting = 0;
    };
    for (std::int64_t k = begin; k < end; ++k) {
      T const element = in.element(row, k);
      std::uint64_t const bits = ordered_bits(element);
      if (!counts(row, bits)) continue;
      double const relative = in.relative(row, element);
      if (relative < least_weighed) continue;
      x[waiting] = relative;
      digits[waiting] = digit(bits);
      if (++waiting == weighed_together) add();
    }
    add();
  }
};

struct add_counts {
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

/// Chooses the digit of each row's threshold: the lowest with a sum above it that is less than the bound.
struct choose_digit {
  std::int64_t const* sums;
  row_threshold* found;
  threshold_bound bound;
  int shift;
  bool is_first;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const* const sum = sums + row * digit_values;
    row_threshold t = found[row];
    if (is_first) t.wanted = bound.weighs ? share_of(sum) : bound.count;
    int digit = digit_values - 1;
    for (; digit > 0 && t.above + sum[digit] < t.wanted; --digit) t.above += sum[digit];
    t.bits |= static_cast<std::uint64_t>(digit) << shift;
    found[row] = t;
  }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t share_of(std::int64_t const* sum) const {
    std::int64_t all = 0;
    for (int d = 0; d < digit_values; ++d) all += sum[d];
    auto const wanted = static_cast<std::int64_t>(std::ceil(bound.share * static_cast<double>(all)));
    return wanted < 1 ? 1 : wanted;  // the largest element is always kept
  }
};

}  // namespace detail

/// found[row].bits <- the bits of the smallest element that the bound keeps among the elements from `floor` on (null:
/// all). Collective over the mesh axes that divide the rows.
template <class Exec, class T>
void find_thresholds(Exec const& exec, execution_context const& w, planner::spec const& s, planner::mesh_set axes,
                     rows_of_logits<T> const& in, threshold_bound const& bound, row_threshold const* floor,
                     row_threshold* found) {
  std::int64_t const rows = in.rows.count(), length = in.rows.length;
  kernel_scratch<std::int64_t, typename Exec::memory_space> const sums(rows * digit_values);
  for_each_item("ostraka thresholds", exec, rows, rows, detail::start_threshold{found});
  for (int shift = 8 * static_cast<int>(sizeof(T)) - 8; shift >= 0; shift -= 8) {
    bool const is_first = shift + 8 == 8 * static_cast<int>(sizeof(T));
    detail::add_digits<T> const add{in, found, floor, bound, shift, is_first, sums.data()};
    for_each_item("ostraka clear sums", exec, rows * digit_values, rows * digit_values, detail::clear_sum{sums.data()});
    if constexpr (runs_on_host<Exec>) {
      std::int64_t const runs = (length + add.run - 1) / add.run;
      for_each_item("ostraka sums of digits", exec, rows * runs, in.rows.size(), [&](std::int64_t i) {
        std::int64_t const begin = i % runs * add.run;
        add.add_run(i / runs, begin, begin + add.run < length ? begin + add.run : length);
      });
    } else {
      for_each_item("ostraka sums of digits", exec, in.rows.size(), in.rows.size(), add);
    }
    if (!axes.empty()) combine_rows<T>(exec, w, s, axes, sums.data(), rows * digit_values, detail::add_counts{});
    for_each_item("ostraka digits of thresholds", exec, rows, rows * digit_values,
                  detail::choose_digit{sums.data(), found, bound, shift, is_first});
  }
  fence_on_host(exec);
}

}  // namespace ostraka::engine
