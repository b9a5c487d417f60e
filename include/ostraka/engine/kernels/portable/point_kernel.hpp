// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A function of points: f(x.at(i), y.at(i), …) for each point i of some loops. A source determines the
/// argument of f at a point: a reference to the element, which f may write, or its neighbourhood. The values of f may
/// be summed.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/loops/item_cut.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The type of the sum if the values of f are not summed.
struct no_sum {
  no_sum& operator+=(no_sum) { return *this; }
};

/// The type of the sums if each value of f is an array of N numbers.
template <class T, int N>
struct several_sums {
  T of[N]{};

  several_sums() = default;
  KOKKOS_FORCEINLINE_FUNCTION T const& operator[](std::int64_t k) const { return of[k]; }
  template <class Array>
  KOKKOS_FORCEINLINE_FUNCTION explicit several_sums(Array const& summands) {
    for (int k = 0; k < N; ++k) of[k] = static_cast<T>(summands[static_cast<std::size_t>(k)]);
  }
  KOKKOS_FORCEINLINE_FUNCTION several_sums& operator+=(several_sums const& other) {
    for (int k = 0; k < N; ++k) of[k] += other.of[k];
    return *this;
  }
  /// Kokkos before version 4 combines the sums of threads with this operator.
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(several_sums const volatile& other) volatile {
    for (int k = 0; k < N; ++k) of[k] = of[k] + other.of[k];
  }
};

namespace detail {

/// The number of points whose summands are stored before they are added.
inline constexpr std::int64_t waiting_points = 256;

/// The stored summands of points, contiguous. `put` stores the summand of the j-th point after a place.
template <class S>
class waiting_summands {
 public:
  struct place {
    S* first;
    template <class Value>
    [[gnu::always_inline]] void put(std::int64_t j, Value const& summand) const {
      first[j] = static_cast<S>(summand);
    }
  };
  [[nodiscard]] place from(std::int64_t point) { return {summand_ + point}; }

  /// Adds the summands of the first `points` points to the sum.
  void add_to(S& sum, std::int64_t points) const {
    S const* const summand = summand_;
    sum += sum_of_run<false, S>(points, [=](std::int64_t i) { return summand[i]; });
  }

 private:
  S summand_[waiting_points];
};

/// The same for several sums: a run for each, so that every sum has the same bits as if it were computed alone.
template <class T, int N>
class waiting_summands<several_sums<T, N>> {
 public:
  struct place {
    T* first;
    template <class Array>
    [[gnu::always_inline]] void put(std::int64_t j, Array const& summands) const {
      put(j, summands, std::make_index_sequence<static_cast<std::size_t>(N)>{});
    }

   private:
    // Not a loop, so that compilers vectorise the loop over points.
    template <class Array, std::size_t... Ks>
    [[gnu::always_inline]] void put(std::int64_t j, Array const& summands, std::index_sequence<Ks...>) const {
      ((first[static_cast<std::int64_t>(Ks) * waiting_points + j] = static_cast<T>(summands[Ks])), ...);
    }
  };
  [[nodiscard]] place from(std::int64_t point) { return {summand_ + point}; }

  void add_to(several_sums<T, N>& sum, std::int64_t points) const {
    for (int k = 0; k < N; ++k) {
      T const* const summand = summand_ + k * waiting_points;
      sum.of[k] += sum_of_run<false, T>(points, [=](std::int64_t i) { return summand[i]; });
    }
  }

 private:
  T summand_[N * waiting_points];
};

/// Sums the values at points. It first stores them in an array, so that the loop over points vectorises, and adds them
/// whenever the array is full: in an order that depends only on the extents.
template <class S>
class point_sums {
 public:
  /// Calls f(to, first, n) for pieces of `length` points, whose summands f puts into `to`.
  template <class F>
  [[gnu::always_inline]] void take(std::int64_t length, F const& f) {
    for (std::int64_t first = 0; first < length;) {
      std::int64_t const room = waiting_points - waiting_, n = length - first < room ? length - first : room;
      f(summands_.from(waiting_), first, n);
      first += n;
      waiting_ += n;
      if (waiting_ == waiting_points) add();
    }
  }
  S sum() {
    add();
    return sum_;
  }

 private:
  void add() {
    summands_.add_to(sum_, waiting_);
    waiting_ = 0;
  }

  S sum_{};
  std::int64_t waiting_ = 0;
  waiting_summands<S> summands_;
};
template <>
class point_sums<no_sum> {
 public:
  static no_sum sum() { return {}; }
};

/// Calls f(j) for the points j < n of a row, which is usually contiguous in all operands (`Dense`). An operand that f
/// writes is one that it reads, or does not overlap it. The loop is unrolled, since the loop's own instructions are a
/// fifth of those of a point; clang unrolls it by itself.
template <bool Dense, class F>
[[gnu::always_inline]] inline void for_points_of_row(std::int64_t n, F const& f) {
  if constexpr (Dense) {
#if defined(__clang__)
#  pragma clang diagnostic push
#  pragma clang diagnostic ignored "-Wpass-failed"  // not every function has a vector form
#  pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#  pragma GCC ivdep
#  pragma GCC unroll 4
#endif
    for (std::int64_t j = 0; j < n; ++j) f(j);
#if defined(__clang__)
#  pragma clang diagnostic pop
#endif
  } else {
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC unroll 4
#endif
    for (std::int64_t j = 0; j < n; ++j) f(j);
  }
}

template <class S, class F, class Indices, class... Sources>
struct point_kernel;

/// Calls f at each point of the loops. S: the type of the sum of its values, several_sums, or no_sum.
template <class S, class F, std::size_t... Is, class... Sources>
struct point_kernel<S, F, std::index_sequence<Is...>, Sources...> {
  static constexpr int operands = static_cast<int>(sizeof...(Sources));

  template <std::size_t I, class Source>
  struct numbered {
    Source source;
  };
  struct sources : numbered<Is, Sources>... {};

  sources in;
  loop_nest<operands> loops;
  F f;

  template <std::size_t I, class Source>
  KOKKOS_INLINE_FUNCTION static Source const& source(numbered<I, Source> const& n) {
    return n.source;
  }

  KOKKOS_INLINE_FUNCTION decltype(auto) call(std::int64_t i) const {
    std::int64_t at[operands];
    loops.locate(i, at);
    return f(source<Is>(in).at(at[Is])...);
  }

  // Computes the points along a row.
  template <bool Dense>
  [[gnu::always_inline]] static void points(sources const& from, F const& function, std::int64_t const (&at)[operands],
                                            std::int64_t const (&step)[operands], std::int64_t length,
                                            [[maybe_unused]] point_sums<S>& sums) {
    auto const call = [&](std::int64_t j) -> decltype(auto) {
      if constexpr (Dense)
        return function(source<Is>(from).at(at[Is] + j)...);
      else
        return function(source<Is>(from).at(at[Is] + j * step[Is])...);
    };
    if constexpr (std::is_same_v<S, no_sum>)
      for_points_of_row<Dense>(length, [&](std::int64_t j) { static_cast<void>(call(j)); });
    else
      sums.take(length, [&](auto const to, std::int64_t first, std::int64_t n) {
        for_points_of_row<Dense>(n, [&](std::int64_t j) { to.put(j, call(first + j)); });
      });
  }
  static bool is_dense(std::int64_t const (&step)[operands]) {
    bool all_ones = true;
    for (int o = 0; o < operands; ++o) all_ones = all_ones && step[o] == 1;
    return all_ones;
  }

  // row() computes one row; rows() computes rows one after the other: extent[d] along dimension d, stride[d][o] apart.
  // Local copies of the function and the sources show compilers that nothing writes them.
  void row(std::int64_t const (&at)[operands], std::int64_t const (&step)[operands], std::int64_t length,
           point_sums<S>& sums) const {
    F const function = f;
    auto const from = in;
    if (is_dense(step))
      points<true>(from, function, at, step, length, sums);
    else
      points<false>(from, function, at, step, length, sums);
  }
  template <bool Dense>
  static S rows(sources const& in, F const& f, int inner, std::int64_t const* extent,
                std::int64_t const (*stride)[operands]) {
    F const function = f;
    auto const from = in;
    int const outer = inner > 0 ? inner - 1 : 0;  // the loop over rows; the outer loops are short
    std::int64_t const length = extent[inner], number = inner > 0 ? extent[outer] : 1;
    std::int64_t step[operands], next[operands], index[max_loops], begin[operands] = {};
    for (int o = 0; o < operands; ++o) {
      step[o] = stride[inner][o];
      next[o] = stride[outer][o];
    }
    for (int d = 0; d < outer; ++d) index[d] = 0;
    point_sums<S> sums;
    while (true) {
      std::int64_t at[operands];
      for (int o = 0; o < operands; ++o) at[o] = begin[o];
      for (std::int64_t i = 0; i < number; ++i) {
        points<Dense>(from, function, at, step, length, sums);
        for (int o = 0; o < operands; ++o) at[o] += next[o];
      }
      int d = outer - 1;
      for (; d >= 0; --d) {
        for (int o = 0; o < operands; ++o) begin[o] += stride[d][o];
        if (++index[d] < extent[d]) break;
        for (int o = 0; o < operands; ++o) begin[o] -= extent[d] * stride[d][o];
        index[d] = 0;
      }
      if (d < 0) return sums.sum();
    }
  }
};

// The functors of accelerators, with one point per thread.
template <class Kernel>
struct one_point {
  Kernel kernel;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { static_cast<void>(kernel.call(i)); }
};
template <class S, class Kernel>
struct point_summand {
  Kernel kernel;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, S& sum) const { sum += static_cast<S>(kernel.call(i)); }
};

template <class S, class F, class... Sources>
using point_kernel_of = point_kernel<S, std::decay_t<F>, std::index_sequence_for<Sources...>, Sources...>;

}  // namespace detail

/// Calls f at few points, row by row, on the calling thread: extent[d] of them along dimension d, stride[d][o] apart in
/// the operands. Use it for up to some thousand points, for which starting a kernel would take longer. Returns the sum
/// of f's values as an S.
template <class S, class F, int Operands, class... Sources>
S each_point_here(int rank, std::int64_t const* extent, std::int64_t const (*stride)[Operands], F const& f,
                  Sources const&... in) {
  static_assert(Operands == static_cast<int>(sizeof...(Sources)));
  using kernel_type = detail::point_kernel_of<S, F, Sources...>;
  if (!computes()) return S{};
  typename kernel_type::sources const from{{in}...};
  int inner = rank - 1;
  while (inner > 0 && extent[inner] == 1) --inner;
  return kernel_type::is_dense(stride[inner]) ? kernel_type::template rows<true>(from, f, inner, extent, stride)
                                              : kernel_type::template rows<false>(from, f, inner, extent, stride);
}

/// Calls f at each point of the loops over the operands, in any order, perhaps concurrently. Returns the sum of f's
/// values as an S. On the host, the sum does not depend on the number of threads.
template <class S, class Exec, class F, class... Sources>
S each_point(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Sources))> const& loops, F const& f,
             Sources const&... in) {
  constexpr int operands = static_cast<int>(sizeof...(Sources));
  constexpr bool sums_up = !std::is_same_v<S, no_sum>;
  using kernel_type = detail::point_kernel_of<S, F, Sources...>;
  std::int64_t const elements = loops.size();
  if (elements == 0 || !computes()) return S{};
  kernel_type const kernel{{{in}...}, loops, f};
  char const* const name = sums_up ? "ostraka sum over points" : "ostraka stencil";
  if constexpr (runs_on_host<Exec>) {
    int const inner = loops.rank - 1;
    std::int64_t step[operands] = {};
    if (inner >= 0)
      for (int o = 0; o < operands; ++o) step[o] = loops.stride[o][inner];
    loop_nest<operands> const rows = inner >= 0 ? loops.without(inner) : loops.copied();
    item_cut const cut = item_cut::of_runs(rows.size(), inner >= 0 ? loops.extent[inner] : 1);
    auto const compute = [&](std::int64_t item) {
      detail::point_sums<S> sums;
      cut.for_each_piece(item, rows, [&](std::int64_t const(&at)[operands], std::int64_t first, std::int64_t length) {
        std::int64_t begin[operands];
        for (int o = 0; o < operands; ++o) begin[o] = at[o] + first * step[o];
        kernel.row(begin, step, length, sums);
      });
      return sums.sum();
    };
    if constexpr (sums_up) {
      kernel_scratch<S, typename Exec::memory_space> const parts(cut.items());
      S* const part = parts.data();
      for_each_item(name, exec, cut.items(), elements, [&](std::int64_t item) { part[item] = compute(item); });
      S sum{};
      for (std::int64_t item = 0; item < cut.items(); ++item) sum += part[item];
      return sum;
    } else {
      for_each_item(name, exec, cut.items(), elements, [&](std::int64_t item) { compute(item); });
      return S{};
    }
  } else if constexpr (sums_up) {
    using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    S sum{};
    Kokkos::parallel_reduce(detail::kernel_name(name), policy(exec, 0, elements),
                            detail::point_summand<S, kernel_type>{kernel}, sum);
    return sum;
  } else {
    for_each_item(name, exec, elements, elements, detail::one_point<kernel_type>{kernel});
    return S{};
  }
}

}  // namespace ostraka::engine
