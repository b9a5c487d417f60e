// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels of a local contraction that only some labels need, as a table: who knows the labels names those
/// that they can ask for, and compiles no others.
///
///     C[B, I, K] = A[B, I, J] · B[B, J, K]    batch       a label in all three
///     C[I, K]    = A[I, J, L] · B[J, K]       sum_lone    a label in one operand alone, summed before the product

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

template <class Exec, class T>
struct product_kernels {
  /// Of many small products; without it they are done as others are.
  void (*batch)(Exec const&, product_loops const&, detail::product_operands<T> const&) = nullptr;
  /// The operand is replaced by a sum, which lies in the buffer.
  void (*sum_lone)(Exec const&, contraction&, operand, T const*&,
                   kernel_scratch<T, typename Exec::memory_space>&) = nullptr;
};

/// For whatever labels.
template <class Exec, class T>
product_kernels<Exec, T> const& every_product_kernel();

}  // namespace ostraka::engine
