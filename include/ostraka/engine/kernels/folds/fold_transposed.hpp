// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a fold of products does first where B lies transposed to A: C = sum over i, j of A[i, j] B[j, i]. B is
/// copied into the order of A, by the tiles of every copy, and the fold reads both in whole lines.

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/strided_layout.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// The loop in which an operand is contiguous: a number among the outputs, or behind them among what is summed; -1 if
/// there is none as long as a vector.
inline int contiguous_loop(loop_nest<3> const& outputs, loop_nest<2> const& reduced, int operand) {
  for (int d = 0; d < outputs.rank; ++d)
    if (outputs.stride[operand][d] == 1 && outputs.extent[d] >= 8) return d;
  for (int d = 0; d < reduced.rank; ++d)
    if (reduced.stride[operand][d] == 1 && reduced.extent[d] >= 8) return outputs.rank + d;
  return -1;
}

/// The loops in which b moves, in the order of a.
struct moves_of_b {
  int rank = 0;
  std::int64_t extent[max_loops], of_a[max_loops];
  std::int64_t* of_b[max_loops];

  template <int Operands>
  void add(loop_nest<Operands>& loops) {
    for (int d = 0; d < loops.rank; ++d) {
      if (loops.stride[1][d] == 0) continue;
      int at = rank++;
      for (; at > 0 && of_a[at - 1] < loops.stride[0][d]; --at)
        extent[at] = extent[at - 1], of_a[at] = of_a[at - 1], of_b[at] = of_b[at - 1];
      extent[at] = loops.extent[d], of_a[at] = loops.stride[0][d], of_b[at] = &loops.stride[1][d];
    }
  }
};

/// b becomes its copy in the buffer if it lies transposed to a, and the loops walk that.
template <class Exec, class T>
void bring_into_order(Exec const& exec, loop_nest<3>& outputs, loop_nest<2>& reduced, T const*& b,
                      kernel_scratch<T, typename Exec::memory_space>& buffer) {
  int const of_a = contiguous_loop(outputs, reduced, 0), of_b = contiguous_loop(outputs, reduced, 1);
  if (of_a < 0 || of_b < 0 || of_a == of_b) return;
  moves_of_b moves;
  moves.add(outputs);
  moves.add(reduced);
  strided const copied = row_major(moves.extent, moves.rank);
  strided lying = copied;
  for (int d = 0; d < moves.rank; ++d) {
    lying.stride[d] = *moves.of_b[d];
    *moves.of_b[d] = copied.stride[d];
  }
  buffer = kernel_scratch<T, typename Exec::memory_space>(copied.size());
  copy(exec, buffer.data(), copied, b, lying);
  b = buffer.data();
}

}  // namespace ostraka::engine::detail
