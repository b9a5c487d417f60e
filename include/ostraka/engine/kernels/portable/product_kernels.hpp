// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A table of the kernels of a local contraction that only some labels need. Code that knows the labels names
/// the kernels that they may need, and compiles no others.
///
///     C[B, I, K] = A[B, I, J] · B[B, J, K]    batch         a label in all three
///     C[I, K]    = A[I, J, L] · B[J, K]       sum_unshared  a label in one operand alone, summed before the product
///     C[I, K]    = A[I] · B[K]                unsummed      no summed label in both operands
///     C[I]       = A[I, J] · B[I, J]          shared        two labels in both operands, or one in all three

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The kinds of labels that products may have.
struct product_labels {
  bool batches;   ///< some label is in both operands and the result
  bool unshared;  ///< some label is in one operand alone
  bool unsummed;  ///< no label is in both operands and not in the result
  bool shared;    ///< two labels are in both operands, or some label is in all three
};

template <class Exec, class T>
struct product_kernels {
  /// Computes many small products; if null, they are computed like others.
  void (*batch)(Exec const&, product_loops const&, detail::product_operands<T> const&) = nullptr;
  /// Replaces the operand by a sum, stored in the buffer.
  void (*sum_unshared)(Exec const&, contraction&, operand, T const*&,
                       kernel_scratch<T, typename Exec::memory_space>&) = nullptr;
  /// c <- alpha a b if each output is a single product. If null, outputs are sums of one product, as for summed extents
  /// of 1.
  void (*unsummed)(Exec const&, loop_nest<3> const& outputs, T const* a, T const* b, T* c, T alpha) = nullptr;
  /// Folds of blocks that share two labels; if null, such blocks are folded like others.
  detail::shared_block_folds<T> const* shared = nullptr;
  /// A fold whose blocks are transposed relative to each other along its loop number `across`.
  void (*fold_parts)(Exec const&, detail::sum_of_products<T> const&, loop_nest<3>& outputs, loop_nest<2>& reduced,
                     int across, T* c, update<T> const&) = nullptr;
};

/// Returns the kernels for any labels.
template <class Exec, class T>
product_kernels<Exec, T> const& every_product_kernel();

}  // namespace ostraka::engine
