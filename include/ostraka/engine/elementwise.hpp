// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[I, J] = f(A[I, J], B[J], …) on one device: loops that all operands walk together, long runs innermost.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/loop_nest.hpp>
#include <ostraka/engine/parallel.hpp>

namespace ostraka::engine {

namespace detail {

template <class R, class F, class... Ts>
struct map_runs {
  static constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;  // the result is number 0

  R* result;
  void const* in[sizeof...(Ts)];
  loop_nest<operands> outer;
  std::int64_t length = 1;  // of a run
  std::int64_t step[operands] = {};
  std::int64_t piece = 1;  // elements of a run that an item takes
  bool contiguous = false;
  F f;

  KOKKOS_INLINE_FUNCTION std::int64_t pieces() const { return (length + piece - 1) / piece; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const { run(item, std::make_index_sequence<sizeof...(Ts)>{}); }

  template <std::size_t... Is>
  KOKKOS_INLINE_FUNCTION void run(std::int64_t item, std::index_sequence<Is...>) const {
    std::int64_t at[operands];
    outer.locate(item / pieces(), at);
    std::int64_t const begin = item % pieces() * piece;
    std::int64_t const end = begin + piece < length ? begin + piece : length;
    if (contiguous) {
      walk(end - begin, result + at[0] + begin, (static_cast<Ts const*>(in[Is]) + at[Is + 1] + begin)...);
    } else {
      for (std::int64_t j = begin; j < end; ++j)
        result[at[0] + j * step[0]] = static_cast<R>(f(static_cast<Ts const*>(in[Is])[at[Is + 1] + j * step[Is + 1]]...));
    }
  }

  KOKKOS_INLINE_FUNCTION void walk(std::int64_t n, R* to, Ts const*... from) const {
    for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<R>(f(from[j]...));
  }
};

}  // namespace detail

/// Calls f on the elements that meet, in any order. `loops`: over the result (number 0) and the operands; stride 0 repeats.
/// The result may be one of the operands if it is walked alike.
template <class Exec, class R, class F, class... Ts>
void map_elements(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Ts)) + 1> loops, F const& f, R* result, Ts const*... in) {
  constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;
  std::int64_t const elements = loops.size();
  if (elements == 0) return;
  loops.order_by(0);
  loops.merge();
  detail::map_runs<R, F, Ts...> kernel{result, {in...}, loops, 1, {}, 1, true, f};
  if (loops.rank > 0) {
    kernel.outer = loops.without(loops.rank - 1);
    kernel.length = loops.extent[loops.rank - 1];
    for (int o = 0; o < operands; ++o) {
      kernel.step[o] = loops.stride[o][loops.rank - 1];
      kernel.contiguous = kernel.contiguous && kernel.step[o] == 1;
    }
  }
  kernel.piece = runs_on_host<Exec> ? std::min<std::int64_t>(kernel.length, 4096) : 1;
  for_each_item("ostraka map", exec, kernel.outer.size() * kernel.pieces(), elements, kernel);
}

}  // namespace ostraka::engine
