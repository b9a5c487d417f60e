// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Adds rows to the rows that the index names: out[index[b], d] += updates[b, d]. One thread sums each element
/// of the result in the order of the updates, so that the sum is the same for any number of threads; threads have
/// different rows of the result. An index outside the block's range adds nothing.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/rows/lookup.hpp>

namespace ostraka::engine {

namespace detail {

/// On a device, a thread sums one column in some rows of the result, and reads all updates.
template <class Sum, class T, class Index>
struct scatter_column {
  loop_nest<3> columns;  // loops of the updates that move in the result
  loop_nest<3> summed;   // and the others, in the order of the sum
  index_window window;
  std::int64_t parts;  // of the window
  Sum* out;
  T const* updates;
  Index const* index;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const part = i / columns.size();
    std::int64_t offset[3];
    columns.locate(i % columns.size(), offset);
    index_window own = window;
    own.first = window.first + part * window.count / parts;
    own.count = window.first + (part + 1) * window.count / parts - own.first;
    Sum* const to = out + offset[0] + (own.first - window.first) * window.stride;
    std::int64_t const n = summed.size();
    loop_walker<3> at(summed, 0);
    for (std::int64_t k = 0; k < n; ++k, at.next()) {
      std::int64_t const row = own.find(index[offset[2] + at.offset[2]]);
      if (row >= 0) to[row] += Sum(updates[offset[1] + at.offset[1]]);
    }
  }
};

template <class Sum, class T, class Index>
void scatter_run(index_window const& window, std::int64_t n, Sum* out, std::int64_t out_step, T const* updates,
                 std::int64_t updates_step, Index const* index, std::int64_t index_step) {
  if (index_step != 0) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t const row = window.find(index[k * index_step]);
      if (row >= 0) out[k * out_step + row] += Sum(updates[k * updates_step]);
    }
    return;
  }
  std::int64_t const row = window.find(*index);
  if (row < 0) return;
  if (out_step == 1 && updates_step == 1)
    for (std::int64_t k = 0; k < n; ++k) out[row + k] += Sum(updates[k]);
  else
    for (std::int64_t k = 0; k < n; ++k) out[row + k * out_step] += Sum(updates[k * updates_step]);
}

}  // namespace detail

/// out[index[…], …] += updates[…]. The loops are those of the updates, row-major, with the strides of out (0 along
/// labels that it lacks), of the updates and of the index. On the host, it returns when `out` is written.
template <class Exec, class Sum, class T, class Index>
void scatter_add(Exec const& exec, loop_nest<3> loops, index_window const& window, Sum* out, T const* updates,
                 Index const* index) {
  std::int64_t const elements = loops.size();
  if (elements == 0 || window.count == 0) return;
  loops.merge();
  if constexpr (runs_on_host<Exec>) {
    if (loops.rank == 0) return detail::scatter_run(window, 1, out, 1, updates, 1, index, 0);
    int const inner = loops.rank - 1;
    loop_nest<3> const outer = loops.without(inner);
    std::int64_t const n = loops.extent[inner];
    std::int64_t const rows = outer.size();
    // Each thread reads all indices, so there are as many shares as threads.
    std::int64_t const threads = elements <= serial_elements ? 1 : exec.concurrency();
    auto const run = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      index_window const own{window.first + begin, end - begin, window.stride};
      Sum* const to = out + begin * window.stride;
      loop_walker<3> at(outer, 0);
      for (std::int64_t row = 0; row < rows; ++row, at.next())
        detail::scatter_run(own, n, to + at.offset[0], loops.stride[0][inner], updates + at.offset[1],
                            loops.stride[1][inner], index + at.offset[2], loops.stride[2][inner]);
    };
    for_each_share("ostraka scatter_add", exec, window.count, threads < window.count ? threads : window.count, elements,
                   run);
  } else {
    detail::scatter_column<Sum, T, Index> kernel{{}, {}, window, 1, out, updates, index};
    for (int d = 0; d < loops.rank; ++d)
      (loops.stride[0][d] != 0 ? kernel.columns : kernel.summed)
          .add(loops.extent[d], loops.stride[0][d], loops.stride[1][d], loops.stride[2][d]);
    constexpr std::int64_t enough = 65536;  // threads to fill a GPU
    std::int64_t const wanted = (enough + kernel.columns.size() - 1) / kernel.columns.size();
    kernel.parts = wanted < window.count ? wanted : window.count;
    for_each_item("ostraka scatter_add", exec, kernel.columns.size() * kernel.parts, elements, kernel);
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
