// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels of reduce.hpp: C[o] <- alpha (reduction over r of A[o, r]) + beta C[o], one output per thread
/// on accelerators, rows on the host.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/folds/fold_kernel.hpp>
#include <ostraka/engine/kernels/folds/row_sums.hpp>
#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine::detail {

/// Calls f with the operation as a constant, so that its loops vectorise.
template <class T, class F>
void for_operation(reduction how, F const& f) {
  if constexpr (is_ordered<T>) {
    if (how == reduction::max) return f(std::integral_constant<reduction, reduction::max>());
    if (how == reduction::min) return f(std::integral_constant<reduction, reduction::min>());
  }
  if constexpr (std::is_integral_v<T>) {
    if (how == reduction::bit_and) return f(std::integral_constant<reduction, reduction::bit_and>());
    if (how == reduction::bit_or) return f(std::integral_constant<reduction, reduction::bit_or>());
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (how == reduction::prod) return f(std::integral_constant<reduction, reduction::prod>());
    f(std::integral_constant<reduction, reduction::sum>());
  }
}

/// The operands of the kernel for accelerators. The reduction may be cut into `parts`, whose results are `part_step`
/// apart in c. T is the type of combined values: float for 16-bit elements.
template <class T, class From = T, class To = T>
struct reduction_operands {
  From const* a;
  To* c;
  reduction how;
  T start;  // the identity
  std::int64_t parts;
  std::int64_t part_step;
  loop_nest<1> reduced;  // {a}
  update<To> into{};

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t part) const { return part * reduced.size() / parts; }
};

/// Computes one output i of part p per call, with i varying fastest.
template <class T, class From = T, class To = T>
struct reduce_elements {
  reduction_operands<T, From, To> in;
  loop_nest<2> outputs;  // {a, c}

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const part = item / outputs.size();
    std::int64_t at[2];
    outputs.locate(item % outputs.size(), at);
    std::int64_t const end = in.begin(part + 1);
    loop_walker<1> r(in.reduced, in.begin(part));
    T result = in.start;
    for (std::int64_t i = in.begin(part); i < end; ++i, r.next())
      result = combine(in.how, result, T(in.a[at[0] + r.offset[0]]));
    in.into.write(in.c + at[1] + part * in.part_step, 1, &result, 1);
  }
};

/// The fold of the host's kernel (fold_kernel.hpp): the elements of one block, as values of T.
template <class T, class Element = T>
struct reduction_of {
  using value = T;
  using element = Element;
  static constexpr int operands = 1;

  Element const* a;
  reduction how;
  T identity;

  T start() const { return identity; }
  Element const* lead() const { return a; }
  reduction_of with_lead(Element const* data) const { return {data, how, identity}; }
  reduction_of<T> of_parts(T const* data) const { return {data, how, identity}; }

  void across(T* sums, std::int64_t const (&at)[1], std::int64_t const* row_step, std::int64_t count,
              std::int64_t const (&run_step)[1], std::int64_t run) const {
    if (how == reduction::sum && row_step[0] == 1 && has_wide_vectors())
      return sum_rows(sums, count, a + at[0], run_step[0], run);
    for_operation<T>(how, [&](auto operation) {
      constexpr reduction op = decltype(operation)::value;
      Element const* const x = a + at[0];
      std::int64_t const next = run_step[0], step = row_step[0];
      auto const combined = [](T const& s, T const& t) { return combine(op, s, t); };
      if (step == 1) {
        add_rows(
            sums, count, run, combined,
            [=](std::int64_t r) { return [row = x + r * next](std::int64_t i) { return T(row[i]); }; },
            stream_of_rows<Element>{x, count, next, run});
      } else {
        for (std::int64_t r = 0; r < run; ++r)
          for (std::int64_t i = 0; i < count; ++i) sums[i] = combine(op, sums[i], T(x[r * next + i * step]));
      }
    });
  }

  void along(T* sums, std::int64_t const (&at)[1], std::int64_t const* row_step, std::int64_t count,
             std::int64_t const (&run_step)[1], std::int64_t run) const {
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4)
      if (how == reduction::sum && run_step[0] == 1 && has_wide_vectors())
        return sum_runs(sums, count, a + at[0], row_step[0], run);
    for_operation<T>(how, [&](auto operation) {
      constexpr reduction op = decltype(operation)::value;
      std::int64_t const step = run_step[0];
      for (std::int64_t i = 0; i < count; ++i) {
        Element const* const x = a + at[0] + i * row_step[0];
        T side[fold_lanes];
        for (int l = 0; l < fold_lanes; ++l) side[l] = identity;
        std::int64_t r = 0;
        if (step == 1)
          for (; r + fold_lanes <= run; r += fold_lanes)
            for (int l = 0; l < fold_lanes; ++l) side[l] = combine(op, side[l], T(x[r + l]));
        else
          for (; r + fold_lanes <= run; r += fold_lanes)
            for (int l = 0; l < fold_lanes; ++l) side[l] = combine(op, side[l], T(x[(r + l) * step]));
        if (r > 0)
          for (int l = 0; l < fold_lanes; ++l) sums[i] = combine(op, sums[i], side[l]);
        for (; r < run; ++r) sums[i] = combine(op, sums[i], T(x[r * step]));
      }
    });
  }
};

}  // namespace ostraka::engine::detail
