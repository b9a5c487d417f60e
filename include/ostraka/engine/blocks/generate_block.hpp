// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes a block whose elements are a function of their global indices, A[i, j] = f(i, j), or also of another
/// block's elements, f(B[i, j], i, j).

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// Writes f(global indices), or f(the element of `from`, global indices), to element `i` of a dense block. `From` is
/// void, or the type of the other block's elements, const.
template <class T, int Rank, class F, class From = void>
struct generate_element {
  static constexpr int room = Rank > 0 ? Rank : 1;

  T* data;
  From const* from;
  std::int64_t extent[room];
  std::int64_t offset[room];
  F f;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t index[room] = {};
    locate(i, index);
    write(i, index);
  }

  /// Writes elements [begin, end), without dividing for each of them.
  void write_run(std::int64_t begin, std::int64_t end) const {
    std::int64_t index[room] = {};
    if (begin < end) locate(begin, index);
    for (; begin < end; ++begin) {
      write(begin, index);
      for (int d = Rank - 1; d >= 0; --d) {
        if (++index[d] < offset[d] + extent[d]) break;
        index[d] = offset[d];
      }
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void locate(std::int64_t i, std::int64_t (&index)[room]) const {
    for (int d = Rank - 1; d >= 0; --d) {
      index[d] = offset[d] + i % extent[d];
      i /= extent[d];
    }
  }

  KOKKOS_INLINE_FUNCTION void write(std::int64_t i, std::int64_t const (&index)[room]) const {
    data[i] = call(i, index, std::make_index_sequence<static_cast<std::size_t>(Rank)>{});
  }

  template <std::size_t... Ds>
  KOKKOS_INLINE_FUNCTION T call(std::int64_t i, std::int64_t const (&index)[room], std::index_sequence<Ds...>) const {
    static_cast<void>(index);
    static_cast<void>(i);
    if constexpr (std::is_void_v<From>)
      return static_cast<T>(f(index[Ds]...));
    else
      return static_cast<T>(f(from[i], index[Ds]...));
  }
};

template <int Rank, class Exec, class T, class F, class From>
void run_generation(char const* name, Exec const& exec, generate_element<T, Rank, F, From>& kernel,
                    planner::range const* where) {
  std::int64_t n = 1;
  for (int d = 0; d < Rank; ++d) {
    kernel.extent[d] = where[d].size();
    kernel.offset[d] = where[d].begin;
    n *= where[d].size();
  }
  if constexpr (runs_on_host<Exec>) {
    auto const run = [&kernel](std::int64_t begin, std::int64_t end, std::int64_t) { kernel.write_run(begin, end); };
    for_each_share(name, exec, n, (n + serial_elements - 1) / serial_elements, n, run);
  } else {
    for_each_item(name, exec, n, n, kernel);
    fence_on_host(exec);
  }
}

}  // namespace detail

/// block <- f(global indices); `where` has a range of indices for each dimension. f is called on `Exec`, once for each
/// element, in any order. On the host, it returns when all elements are written.
template <int Rank, class Exec, class T, class F>
void generate_block(Exec const& exec, T* block, planner::range const* where, F const& f) {
  detail::generate_element<T, Rank, std::decay_t<F>> kernel{block, nullptr, {}, {}, f};
  detail::run_generation("ostraka generate", exec, kernel, where);
}

/// block <- f(from, global indices), element by element.
template <int Rank, class Exec, class T, class From, class F>
void map_with_indices(Exec const& exec, T* block, From const* from, planner::range const* where, F const& f) {
  detail::generate_element<T, Rank, std::decay_t<F>, From> kernel{block, from, {}, {}, f};
  detail::run_generation("ostraka map with indices", exec, kernel, where);
}

}  // namespace ostraka::engine
