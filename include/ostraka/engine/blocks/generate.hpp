// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A block whose elements are a function of their global indices: A[i, j] = f(i, j).

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/parallel.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// Writes f(global indices) to element `i` of a dense block.
template <class T, int Rank, class F>
struct generate_element {
  static constexpr int room = Rank > 0 ? Rank : 1;

  T* data;
  std::int64_t extent[room];
  std::int64_t offset[room];
  F f;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t index[room] = {};
    std::int64_t rest = i;
    for (int d = Rank - 1; d >= 0; --d) {
      index[d] = offset[d] + rest % extent[d];
      rest /= extent[d];
    }
    data[i] = call(index, std::make_index_sequence<static_cast<std::size_t>(Rank)>{});
  }

  template <std::size_t... Ds>
  KOKKOS_INLINE_FUNCTION T call(std::int64_t const (&index)[room], std::index_sequence<Ds...>) const {
    static_cast<void>(index);
    return static_cast<T>(f(index[Ds]...));
  }
};

}  // namespace detail

/// block <- f(global indices); `where` has a range of them for each dimension. f is called once for each element, in no
/// order, where `Exec` runs. All is written when it returns.
template <int Rank, class Exec, class T, class F>
void generate_block(Exec const& exec, T* block, planner::range const* where, F const& f) {
  detail::generate_element<T, Rank, F> kernel{block, {}, {}, f};
  std::int64_t n = 1;
  for (int d = 0; d < Rank; ++d) {
    kernel.extent[d] = where[d].size();
    kernel.offset[d] = where[d].begin;
    n *= where[d].size();
  }
  if constexpr (runs_on_host<Exec>) {
    auto const run = [&kernel](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t i = begin; i < end; ++i) kernel(i);
    };
    for_each_share("ostraka generate", exec, n, (n + serial_elements - 1) / serial_elements, n, run);
  } else {
    for_each_item("ostraka generate", exec, n, n, kernel);
    exec.fence();
  }
}

}  // namespace ostraka::engine
