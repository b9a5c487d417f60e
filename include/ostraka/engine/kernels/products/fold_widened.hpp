// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of a large block of 16-bit elements with a small one on the host, such as a matrix times a
/// vector: y[i] <- alpha (sum over k of A[i, k] x[k]) + beta y[i]. The small block is widened first; elements of the
/// large block are widened when they are multiplied, so that reading it takes only the bandwidth of the narrow type.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/folds/row_sums.hpp>
#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/portable/arranged_product.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/products/widened.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// Smaller blocks are widened whole first. Tests lower it.
[[gnu::visibility("default")]] inline constinit std::int64_t least_widened_fold = 1 << 14;

namespace detail {

/// The fold of the host's kernel (fold_kernel.hpp) for these products. @pre a is at least as large as b, and b has the
/// order of a
template <class Narrow>
struct sum_of_widened_products {
  using value = product_type<Narrow>;
  using element = Narrow;
  static constexpr int operands = 2;

  Narrow const* a;
  value const* b;

  value start() const { return value(0); }
  Narrow const* lead() const { return a; }
  sum_of_widened_products with_lead(Narrow const* data) const { return {data, b}; }
  sum_of_products<value> of_parts(value const* data) const { return sum_of_products<value>{data, b}.of_parts(data); }

  void across(value* sums, std::int64_t const (&at)[2], std::int64_t const* row_step, std::int64_t count,
              std::int64_t const (&run_step)[2], std::int64_t run) const {
    Narrow const* x = a + at[0];
    value const* y = b + at[1];
    std::int64_t const x_next = run_step[0], y_next = run_step[1], x_step = row_step[0], y_step = row_step[1];
    if (x_step == 1 && y_step == 0 && has_wide_vectors()) {
      if (count >= elements_of_page<Narrow>)
        return in_wide_vectors([=] { add_long_rows(sums, count, x, x_next, y, y_next, run); });
      return add_wide_rows(
          sums, count, run,
          [=](std::int64_t r) {
            return [row = x + r * x_next, factor = y[r * y_next]](std::int64_t i) { return value(row[i]) * factor; };
          },
          stream_of_rows<Narrow>{x, count, x_next, run});
    }
    for (std::int64_t r = 0; r < run; ++r, x += x_next, y += y_next)
      for (std::int64_t i = 0; i < count; ++i) sums[i] += value(x[i * x_step]) * y[i * y_step];
  }

  /// Adds rows of a page or more, two at once, while it prefetches the next two.
  static void add_long_rows(value* __restrict sums, std::int64_t count, Narrow const* x, std::int64_t x_next,
                            value const* y, std::int64_t y_next, std::int64_t run) {
    constexpr std::int64_t piece = 2 * elements_of_line<Narrow>;
    std::int64_t const whole = count / piece * piece;
    std::int64_t r = 0;
    for (; r + 2 <= run; r += 2, x += 2 * x_next, y += 2 * y_next) {
      Narrow const *const a = x, *const b = x + x_next;
      value const of_a = y[0], of_b = y[y_next];
      std::int64_t const next = r + 4 <= run ? 2 * x_next : 0;
      for (std::int64_t begin = 0; begin < whole; begin += piece) {
        prefetch(a + next + begin, piece);
        prefetch(b + next + begin, piece);
        for (std::int64_t i = begin; i < begin + piece; ++i)
          sums[i] = sums[i] + value(a[i]) * of_a + value(b[i]) * of_b;
      }
      for (std::int64_t i = whole; i < count; ++i) sums[i] = sums[i] + value(a[i]) * of_a + value(b[i]) * of_b;
    }
    if (r < run)
      for (std::int64_t i = 0; i < count; ++i) sums[i] += value(x[i]) * y[0];
  }

  void along(value* sums, std::int64_t const (&at)[2], std::int64_t const* row_step, std::int64_t count,
             std::int64_t const (&run_step)[2], std::int64_t run) const {
    Narrow const* x = a + at[0];
    value const* y = b + at[1];
    std::int64_t const x_next = row_step[0], y_next = row_step[1], x_step = run_step[0], y_step = run_step[1];
    if (x_step == 1 && y_step == 1 && has_wide_vectors())
      return in_wide_vectors([=] {
        add_runs(
            sums, count, run,
            [=](std::int64_t i, std::int64_t r) { return value(x[i * x_next + r]) * y[i * y_next + r]; },
            two_pages_ahead<Narrow>{x, x_next});
      });
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t r = 0; r < run; ++r) sums[i] += value(x[i * x_next + r * x_step]) * y[i * y_next + r * y_step];
  }
};

/// True if a contraction is such a product for which this kernel is faster than the one of wider elements: the large
/// block has many elements, and long runs of neighbours. @pre no extent is 0
inline bool is_widened_fold(contraction const& p) {
  std::int64_t size[4] = {1, 1, 1, 1};  // of the classes batch, m, n and k
  for (int l = 0; l < p.labels; ++l) {
    label_class const of = class_of(p, l);
    if (of == label_class::only_a || of == label_class::only_b) return false;
    size[static_cast<int>(of)] *= p.extent[l];
  }
  auto const [batch, m, n, k] = size;
  if (k == 1 || std::min(m, n) > 1 || batch * m * n * k < least_widened_fold) return false;
  operand const large = n > m ? operand::b : operand::a;
  for (int l = 0; l < p.labels; ++l)
    if (presence_of(p, large)[l] && strides_of(p, large)[l] == 1 && p.extent[l] > 1)
      return class_of(p, l) == label_class::k || (class_of(p, l) != label_class::batch && p.extent[l] >= 32);
  return false;
}

/// c <- alpha A B + beta c. @pre is_widened_fold(p)
template <class Exec, class T>
void fold_widened(Exec const& exec, contraction const& p, T const* a, T const* b, T* c, update<T> const& how) {
  using wide = product_type<T>;
  bool const b_is_larger = block_of(p, operand::b).size() > block_of(p, operand::a).size();
  operand const large = b_is_larger ? operand::b : operand::a, small = b_is_larger ? operand::a : operand::b;
  contraction ordered = p;
  kernel_scratch<wide, typename Exec::memory_space> const widened_small(close_gaps(ordered, small, large));
  map_elements(exec, loops_along(block_of(ordered, small), block_of(p, small)), widen<wide>{}, widened_small.data(),
               b_is_larger ? a : b);
  product_loops const loops = loops_of(ordered);
  loop_nest<3> outputs = output_loops(loops);
  loop_nest<2> reduced = loops.k.copied();
  product_fold fold;
  fold.is_exchanged = b_is_larger;
  fold.order(outputs, reduced);
  run_fold(exec, sum_of_widened_products<T>{b_is_larger ? b : a, widened_small.data()}, outputs, reduced, c, how);
}

}  // namespace detail
}  // namespace ostraka::engine
