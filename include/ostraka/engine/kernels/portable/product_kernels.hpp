// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels of a local contraction that only some labels need, as a table: who knows the labels names those
/// that they can ask for, and compiles no others.
///
///     C[B, I, K] = A[B, I, J] · B[B, J, K]    batch       a label in all three
///     C[I, K]    = A[I, J, L] · B[J, K]       sum_lone    a label in one operand alone, summed before the product
///     C[I, K]    = A[I] · B[K]                unsummed    no label that is summed over products
///     C[I]       = A[I, J] · B[I, J]          meeting     two labels in both operands, or one in all three

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// What the labels of products may be.
struct product_labels {
  bool batches;   ///< one in both operands and the result
  bool lone;      ///< one in one operand alone
  bool unsummed;  ///< none in both operands that the result lacks
  bool meet;      ///< two in both operands, or batches
};

template <class Exec, class T>
struct product_kernels {
  /// Of many small products; without it they are done as others are.
  void (*batch)(Exec const&, product_loops const&, detail::product_operands<T> const&) = nullptr;
  /// The operand is replaced by a sum, which lies in the buffer.
  void (*sum_lone)(Exec const&, contraction&, operand, T const*&,
                   kernel_scratch<T, typename Exec::memory_space>&) = nullptr;
  /// c <- alpha a b where each output is one product. Without it they are sums of one, as they are where the extent of
  /// what is summed is 1 by chance.
  void (*unsummed)(Exec const&, loop_nest<3> const& outputs, T const* a, T const* b, T* c, T alpha) = nullptr;
  /// For folds of products; without it blocks are folded as if they met along a line.
  detail::meeting_blocks<T> const* meeting = nullptr;
  /// A fold along one of whose loops, number `across`, they lie transposed.
  void (*fold_parts)(Exec const&, detail::sum_of_products<T> const&, loop_nest<3>& outputs, loop_nest<2>& reduced,
                     int across, T* c, update<T> const&) = nullptr;
};

/// For whatever labels.
template <class Exec, class T>
product_kernels<Exec, T> const& every_product_kernel();

}  // namespace ostraka::engine
