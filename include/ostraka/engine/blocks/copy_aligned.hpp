// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Copies a block into one whose dimensions are in another order, and repeats it along dimensions that it
/// lacks:
/// C[j, i, b] = A[i, j]

#include <cstdint>

#include <ostraka/engine/blocks/map_blocks.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>

namespace ostraka::engine {

/// result <- the aligned block `from`; `result` is this device's dense block of `out`.
template <class Exec, class T>
void copy_aligned(Exec const& exec, execution_context const& w, planner::spec const& out, T* result,
                  aligned<T const> const& from) {
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, out, w.names, "reads and writes",
                (planner::block_size(out, w.here, w.sizes) + detail::elements_aligned(w, out, from.stride)) *
                    static_cast<std::int64_t>(sizeof(T)));
  });
  strided_block<T*> const to = dense_block(result, box_of(out, w.here, w.sizes));
  strided source = layout_of(to);
  for (int i = 0; i < out.rank; ++i) source.stride[i] = from.stride[i];
  copy(exec, to.data, layout_of(to), from.data, source);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
