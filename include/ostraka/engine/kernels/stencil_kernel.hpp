// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Stencils on one device: b[i, j] = f(a around (i, j), c[i, j], …), where f reads neighbours by their steps.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/item_cut.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka {

/// A point of a padded block and its neighbours: the argument of the function of os::stencil for such a block. With I
/// and J padded, `x(0, 0)` is the point, `x(-1, 0)` the one before it along I.
template <class T, int Axes>
class neighbours {
 public:
  KOKKOS_INLINE_FUNCTION neighbours(T const* point, std::int64_t const* stride) : point_(point) {
    for (int k = 0; k < Axes; ++k) stride_[k] = stride[k];
  }

  /// The element so many steps away, a step for each padded axis.
  template <class... Steps>
  KOKKOS_INLINE_FUNCTION T const& operator()(Steps... steps) const {
    using fits [[maybe_unused]] = char[sizeof(reason::stencil_step_missing<static_cast<int>(sizeof...(Steps)), Axes>)];
    int k = 0;
    std::int64_t at = 0;
    ((at += static_cast<std::int64_t>(steps) * stride_[k++]), ...);
    return point_[at];
  }

 private:
  T const* point_;
  std::int64_t stride_[Axes];
};

/// A step from a point to a neighbour, as numbers of indices along the padded axes. It tells by which element of its
/// arguments the function of os::stencil gives its derivative. x(-1, 0) is the element at {-1, 0}.
template <int Axes>
struct neighbour {
  int step[Axes]{};  ///< one for each padded axis

  /// The step along a padded axis.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int operator[](int axis) const { return step[axis]; }

  /// Returns its distance in indices, along all axes together: 0 is the point itself.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int distance() const {
    int sum = 0;
    for (int k = 0; k < Axes; ++k) sum += step[k] < 0 ? -step[k] : step[k];
    return sum;
  }
};

}  // namespace ostraka

namespace ostraka::engine {

/// A source of a stencil: the neighbourhood of each point along `Axes` axes, or for Axes = 0 the element there.
template <class T, int Axes>
struct stencil_source {
  T const* data;  ///< of the first point
  std::int64_t stride[Axes > 0 ? Axes : 1];

  KOKKOS_INLINE_FUNCTION decltype(auto) at(std::int64_t offset) const {
    if constexpr (Axes > 0)
      return neighbours<T, Axes>(data + offset, stride);
    else
      return data[offset];
  }
};

namespace detail {

template <class R, class F, class Indices, class... Sources>
struct stencil_kernel;

template <class R, class F, std::size_t... Is, class... Sources>
struct stencil_kernel<R, F, std::index_sequence<Is...>, Sources...> {
  static constexpr int operands = static_cast<int>(sizeof...(Sources)) + 1;  // the result is number 0

  template <std::size_t I, class Source>
  struct numbered {
    Source source;
  };
  struct sources : numbered<Is, Sources>... {};

  R* result;
  sources in;
  loop_nest<operands> loops;
  F f;

  template <std::size_t I, class Source>
  KOKKOS_INLINE_FUNCTION static Source const& source(numbered<I, Source> const& n) {
    return n.source;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[operands];
    loops.locate(i, at);
    result[at[0]] = static_cast<R>(f(source<Is>(in).at(at[Is + 1])...));
  }

  // The points along a row, which all operands usually walk element by element (`Dense`). The result's points may be
  // those of a source that is read there alone. The loop is unrolled, since a point is a few instructions and the
  // loop's own are a fifth of them; clang unrolls it by itself.
  template <bool Dense>
  [[gnu::always_inline]] static void points(R* to, sources const& from, F const& function,
                                            std::int64_t const (&at)[operands], std::int64_t const (&step)[operands],
                                            std::int64_t length) {
    if constexpr (Dense) {
#if defined(__clang__)
#  pragma clang diagnostic push
#  pragma clang diagnostic ignored "-Wpass-failed"  // not every function has a vector form
#  pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#  pragma GCC ivdep
#  pragma GCC unroll 4
#endif
      for (std::int64_t j = 0; j < length; ++j)
        to[j] = static_cast<R>(function(source<Is>(from).at(at[Is + 1] + j)...));
#if defined(__clang__)
#  pragma clang diagnostic pop
#endif
    } else {
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC unroll 4
#endif
      for (std::int64_t j = 0; j < length; ++j)
        to[j * step[0]] = static_cast<R>(function(source<Is>(from).at(at[Is + 1] + j * step[Is + 1])...));
    }
  }
  static bool is_dense(std::int64_t const (&step)[operands]) {
    bool all_ones = true;
    for (int o = 0; o < operands; ++o) all_ones = all_ones && step[o] == 1;
    return all_ones;
  }

  // One row, and rows one after the other: extent[d] along dimension d, stride[d][o] apart. Local copies of the
  // function and the sources show compilers that nothing writes them.
  void row(std::int64_t const (&at)[operands], std::int64_t const (&step)[operands], std::int64_t length) const {
    F const function = f;
    auto const from = in;
    if (is_dense(step))
      points<true>(result + at[0], from, function, at, step, length);
    else
      points<false>(result + at[0], from, function, at, step, length);
  }
  template <bool Dense>
  static void rows(R* result, sources const& in, F const& f, int inner, std::int64_t const* extent,
                   std::int64_t const (*stride)[operands]) {
    F const function = f;
    auto const from = in;
    int const outer = inner > 0 ? inner - 1 : 0;  // the loop over rows; those around it are few
    std::int64_t const length = extent[inner], number = inner > 0 ? extent[outer] : 1;
    std::int64_t step[operands], next[operands], index[max_loops], begin[operands] = {};
    for (int o = 0; o < operands; ++o) {
      step[o] = stride[inner][o];
      next[o] = stride[outer][o];
    }
    for (int d = 0; d < outer; ++d) index[d] = 0;
    while (true) {
      std::int64_t at[operands];
      for (int o = 0; o < operands; ++o) at[o] = begin[o];
      for (std::int64_t i = 0; i < number; ++i) {
        points<Dense>(result + at[0], from, function, at, step, length);
        for (int o = 0; o < operands; ++o) at[o] += next[o];
      }
      int d = outer - 1;
      for (; d >= 0; --d) {
        for (int o = 0; o < operands; ++o) begin[o] += stride[d][o];
        if (++index[d] < extent[d]) break;
        for (int o = 0; o < operands; ++o) begin[o] -= extent[d] * stride[d][o];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

}  // namespace detail

/// Computes few points, row by row, on the calling thread: extent[d] of them along dimension d, stride[d][o] apart in
/// the result (number 0) and the sources. Starting a kernel costs more than some thousand points.
template <class R, class F, int Operands, class... Sources>
void stencil_here(int rank, std::int64_t const* extent, std::int64_t const (*stride)[Operands], F const& f, R* result,
                  Sources const&... in) {
  static_assert(Operands == static_cast<int>(sizeof...(Sources)) + 1);
  using kernel_type = detail::stencil_kernel<R, std::decay_t<F>, std::index_sequence_for<Sources...>, Sources...>;
  if (!computes()) return;
  typename kernel_type::sources const from{{in}...};
  int inner = rank - 1;
  while (inner > 0 && extent[inner] == 1) --inner;
  if (kernel_type::is_dense(stride[inner]))
    kernel_type::template rows<true>(result, from, f, inner, extent, stride);
  else
    kernel_type::template rows<false>(result, from, f, inner, extent, stride);
}

/// result <- f around each point of the loops, over the result (number 0) and the sources.
template <class Exec, class R, class F, class... Sources>
void stencil(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Sources)) + 1> const& loops, F const& f, R* result,
             Sources const&... in) {
  constexpr int operands = static_cast<int>(sizeof...(Sources)) + 1;
  using kernel_type = detail::stencil_kernel<R, std::decay_t<F>, std::index_sequence_for<Sources...>, Sources...>;
  std::int64_t const elements = loops.size();
  if (elements == 0 || !computes()) return;
  kernel_type const kernel{result, {{in}...}, loops, f};
  if constexpr (runs_on_host<Exec>) {
    if (loops.rank == 0) return kernel(0);
    int const inner = loops.rank - 1;
    std::int64_t step[operands];
    for (int o = 0; o < operands; ++o) step[o] = loops.stride[o][inner];
    loop_nest<operands> const rows = loops.without(inner);
    item_cut const cut = item_cut::of_runs(rows.size(), loops.extent[inner]);
    for_each_item("ostraka stencil", exec, cut.items(), elements, [&](std::int64_t item) {
      cut.for_each_piece(item, rows, [&](std::int64_t const(&at)[operands], std::int64_t first, std::int64_t length) {
        std::int64_t begin[operands];
        for (int o = 0; o < operands; ++o) begin[o] = at[o] + first * step[o];
        kernel.row(begin, step, length);
      });
    });
  } else {
    for_each_item("ostraka stencil", exec, elements, elements, kernel);
  }
}

}  // namespace ostraka::engine
