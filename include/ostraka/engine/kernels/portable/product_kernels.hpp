// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels of a local contraction that only some labels need, as a table: code that knows the labels names
/// the kernels that they may need, and compiles no others.
///
///     C[B, I, K] = A[B, I, J] · B[B, J, K]    batch         a label in all three
///     C[I, K]    = A[I, J, L] · B[J, K]       sum_unshared  a label in one operand alone, summed before the product
///     C[I, K]    = A[I] · B[K]                unsummed      no label that is summed over products
///     C[I]       = A[I, J] · B[I, J]          shared        two labels in both operands, or one in all three

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The kinds of labels that products may have.
struct product_labels {
  bool batches;   ///< one in both operands and the result
  bool unshared;  ///< one in one operand alone
  bool unsummed;  ///< none in both operands that the result lacks
  bool shared;    ///< two in both operands, or batches
};

template <class Exec, class T>
struct product_kernels {
  /// For many small products; without it they are computed like others.
  void (*batch)(Exec const&, product_loops const&, detail::product_operands<T> const&) = nullptr;
  /// Replaces the operand by a sum, which lies in the buffer.
  void (*sum_unshared)(Exec const&, contraction&, operand, T const*&,
                       kernel_scratch<T, typename Exec::memory_space>&) = nullptr;
  /// c <- alpha a b where each output is one product. Without it they are sums of one product, as they are if the
  /// summed extents happen to be 1.
  void (*unsummed)(Exec const&, loop_nest<3> const& outputs, T const* a, T const* b, T* c, T alpha) = nullptr;
  /// For folds of products; without it blocks are folded as if they shared one line only.
  detail::shared_block_folds<T> const* shared = nullptr;
  /// A fold whose blocks lie transposed along one of its loops, number `across`.
  void (*fold_parts)(Exec const&, detail::sum_of_products<T> const&, loop_nest<3>& outputs, loop_nest<2>& reduced,
                     int across, T* c, update<T> const&) = nullptr;
};

/// Returns the kernels for any labels.
template <class Exec, class T>
product_kernels<Exec, T> const& every_product_kernel();

}  // namespace ostraka::engine
