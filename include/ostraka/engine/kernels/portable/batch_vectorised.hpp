// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Many small products whose batch is innermost in memory, C[i, j, b] = sum over k of A[i, k, b] B[k, j, b].
/// They are computed with vectors along the batch if there are such kernels (x86/contract_batch.hpp), otherwise like
/// other products.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#if OSTRAKA_DETAIL_X86
#include <ostraka/engine/kernels/x86/contract_batch.hpp>
#endif

namespace ostraka::engine::detail {

/// Products with at most this many multiplications run on a single thread.
inline constexpr std::int64_t serial_products = 1 << 16;

/// True if there are such kernels, and the products are small, and enough to fill vectors.
template <class T>
bool is_batch_vectorised([[maybe_unused]] product_loops const& loops) {
#if OSTRAKA_DETAIL_X86
  return worth_batch_kernel<T>(loops);
#else
  return false;
#endif
}

/// Each thread computes some of the products. @pre is_batch_vectorised<T>(loops)
template <class Exec, class T>
void run_batch_vectorised([[maybe_unused]] Exec const& exec, [[maybe_unused]] product_loops const& loops,
                          [[maybe_unused]] product_operands<T> const& in) {
#if OSTRAKA_DETAIL_X86
  contract_batch<T> const batch(loops, in);
  std::int64_t const elements = loops.batch.size() * loops.m.size() * loops.n.size() * loops.k.size();
  std::int64_t const tasks = batch.tasks(),
                     threads = elements <= serial_products ? 1 : std::min<std::int64_t>(exec.concurrency(), tasks);
  for_each_share("ostraka batch of products", exec, tasks, threads, elements,
                 [&batch](std::int64_t begin, std::int64_t end, std::int64_t) { batch.run(begin, end); });
#endif
}

}  // namespace ostraka::engine::detail
