// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The arrangement of a contraction for our own kernels, made before they run: its loops, and its fold if it
/// is computed as one. The plan of a contraction keeps it (products/contraction_plan.hpp): for a matrix of 100 times a
/// vector it takes as long as a sixth of the sums.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/folds/fold_transposed.hpp>
#include <ostraka/engine/kernels/portable/batch_vectorised.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/portable/contract_tiles.hpp>

namespace ostraka::engine::detail {

/// Returns all output loops together, in the order of c, with contiguous loops merged. Offsets {a, b, c}.
[[gnu::noinline]] inline loop_nest<3> output_loops(product_loops const& loops) {
  loop_nest<3> outputs = loops.batch.copied();
  for (int d = 0; d < loops.m.rank; ++d)
    outputs.add(loops.m.extent[d], loops.m.stride[0][d], std::int64_t(0), loops.m.stride[1][d]);
  for (int d = 0; d < loops.n.rank; ++d)
    outputs.add(loops.n.extent[d], std::int64_t(0), loops.n.stride[0][d], loops.n.stride[1][d]);
  outputs.order_by(2);
  outputs.merge();
  return outputs;
}

/// The fold of a large block times a small one, of two vectors, or of products that are added to C. The largest of the
/// three blocks leads.
struct product_fold {
  bool is_exchanged = false;  // b leads
  bool result_is_largest = false;
  int across = -1;                   // the loop of the sum in which b is contiguous and a is not
  std::int64_t largest_operand = 0;  // in elements
  std::int64_t elements = 0;
  std::int64_t parts = 1;   // of the sum, unless it is cut across
  bool is_one_row = false;  // a single part with a single row of outputs, from a single run
  fold_shape<2> shape;

  /// Orders the loops of outputs and of the sum so that the larger of a and b leads.
  void order(loop_nest<3>& outputs, loop_nest<2>& reduced) const {
    if (is_exchanged) {
      outputs.exchange_operands(0, 1);
      reduced.exchange_operands(0, 1);
    }
    reduced.order_by(0);
    reduced.merge();
  }
};

/// Returns the fold of these products.
template <class T>
[[gnu::noinline]] product_fold arrange_products(product_loops const& loops) {
  std::int64_t const batch = loops.batch.size(), m = loops.m.size(), n = loops.n.size(), k = loops.k.size();
  product_fold fold;
  fold.is_exchanged = n > m;
  fold.largest_operand = batch * std::max(m, n) * k;
  fold.result_is_largest = batch * m * n > fold.largest_operand;
  fold.elements = batch * m * n * k;
  loop_nest<3> outputs = output_loops(loops);
  loop_nest<2> reduced = loops.k.copied();
  fold.order(outputs, reduced);
  if (!fold.result_is_largest) fold.across = transposed_loop(reduced);
  fold.shape = arrange_fold<T, sum_of_products<T>>(outputs, reduced, fold.result_is_largest);
  fold.parts = parts_of_fold<Kokkos::DefaultHostExecutionSpace, sum_of_products<T>>(fold.shape, fold.elements);
  fold.is_one_row = fold.parts == 1 && fold.across < 0 && fold.shape.is_one_row() &&
                    fold.shape.length <= fold_rows<T, sum_of_products<T>>::width;
  return fold;
}

/// A contraction, arranged for our own kernels.
struct arranged_product {
  product_loops loops;
  bool is_sum = false;    // the outputs are sums of more than one term
  bool is_batch = false;  // products for the kernel of batches
  bool is_fold = false;   // a fold, unless it is such a batch, or unsummed products
  product_fold fold;  // set only if the product is folded
};

/// @pre no label is in one operand alone; no extent is 0
template <class T>
[[gnu::noinline]] arranged_product arrange_product(contraction const& p) {
  arranged_product all;
  all.loops = loops_of(p);
  all.is_sum = all.loops.k.size() > 1;
  all.is_batch = is_batch_vectorised<T>(all.loops);
  all.is_fold = !worth_tiles(all.loops);
  if (!all.is_sum || all.is_fold) all.fold = arrange_products<T>(all.loops);
  return all;
}

}  // namespace ostraka::engine::detail
