// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[I_X, J] = f(A[I_X, J], B[J]) on this device's blocks, which match without communication. For each
/// operand, a loop visits the part that belongs to the result's block, with one stride for each dimension of the
/// result, 0 along those that the operand lacks.

#include <cstdint>

#include <ostraka/engine/blocks/aligned.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// Returns the number of elements of an operand that belong to the result's block.
[[gnu::cold]] inline std::int64_t elements_aligned(execution_context const& w, planner::spec const& out,
                                                   std::int64_t const* stride) {
  std::int64_t n = 1;
  for (int i = 0; i < out.rank; ++i) {
    std::int64_t const here = planner::range_of(out, i, w.here, w.sizes).size();
    if (stride[i] != 0 || here == 0) n *= here;
  }
  return n;
}

// For a result of these extents and strides.
template <class Exec, class R, class F, class... Ts>
void map_aligned(Exec const& exec, execution_context const& w, planner::spec const& out, F const& f, R* result,
                 std::int64_t const* extents, std::int64_t const* strides, aligned<Ts> const&... in) {
  profiled const region_of_run(w, [&] {
    std::int64_t const written = planner::block_size(out, w.here, w.sizes) * static_cast<std::int64_t>(sizeof(R));
    push_blocks(
        w.operation, out, w.names, "reads and writes",
        (written + ... + (detail::elements_aligned(w, out, in.stride) * static_cast<std::int64_t>(sizeof(Ts)))));
  });
  loop_nest<static_cast<int>(sizeof...(Ts)) + 1> loops;
  for (int i = 0; i < out.rank; ++i) loops.add(extents[i], strides[i], in.stride[i]...);
  map_elements(exec, loops, f, result, in.data...);
  fence_on_host(exec);
}

}  // namespace detail

/// result <- f(in, …), element by element. `result`: this device's block of `out`, of any strides. On the host, it
/// returns when all elements are written. All shardings of the same element types share one instance.
template <class Exec, class R, class F, class... Ts>
void map_blocks(Exec const& exec, execution_context const& w, planner::spec const& out, F const& f,
                strided_block<R*> const& result, aligned<Ts> const&... in) {
  std::int64_t extents[max_rank];
  for (int i = 0; i < out.rank; ++i) extents[i] = result.where.at[i].size();
  detail::map_aligned(exec, w, out, f, result.data, extents, result.stride, in...);
}

/// The same for a dense result.
template <class Exec, class R, class F, class... Ts>
void map_blocks(Exec const& exec, execution_context const& w, planner::spec const& out, F const& f, R* result,
                aligned<Ts> const&... in) {
  std::int64_t extents[max_rank], strides[max_rank];
  std::int64_t step = 1;
  for (int i = out.rank - 1; i >= 0; --i) {
    extents[i] = planner::range_of(out, i, w.here, w.sizes).size();
    strides[i] = step;
    step *= extents[i];
  }
  detail::map_aligned(exec, w, out, f, result, extents, strides, in...);
}

}  // namespace ostraka::engine
