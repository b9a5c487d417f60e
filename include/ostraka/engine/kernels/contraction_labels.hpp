// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sorts the labels of a contraction into the loops of a batch of matrix products: C[b, m, n] = sum over k of
/// A[b, m, k] B[b, k, n], where each letter may stand for several labels of the einsum.

#include <cstdint>
#include <limits>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/plan/blocks/contraction_problem.hpp>

namespace ostraka::engine {

using planner::contraction;
using planner::operand;
using planner::presence_of;
using planner::strides_of;

/// The role of a label in the product.
//  in A   in B   in C     class
//  x      x      x        batch       (and labels of C alone, which repeat the result)
//  x             x        m
//         x      x        n
//  x      x               k
//  x                      only_a      summed before the product
//         x               only_b      summed before the product
enum class label_class { batch, m, n, k, only_a, only_b };

inline label_class class_of(contraction const& p, int label) {
  if (p.in_c[label])
    return p.in_a[label] == p.in_b[label] ? label_class::batch : p.in_a[label] ? label_class::m : label_class::n;
  return p.in_a[label] == p.in_b[label] ? label_class::k : p.in_a[label] ? label_class::only_a : label_class::only_b;
}

/// The loops of the product, with contiguous labels merged. Offsets: batch {a, b, c}, m {a, c}, n {b, c}, k {a, b}.
struct product_loops {
  loop_nest<3> batch;
  loop_nest<2> m;
  loop_nest<2> n;
  loop_nest<2> k;

  /// Returns the loops with A and B exchanged, so that C is transposed.
  product_loops transposed() const {
    product_loops t{batch, n, m, k};
    t.batch.exchange_operands(0, 1);
    t.k.exchange_operands(0, 1);
    return t;
  }
};

/// @pre no label is in one operand alone
inline product_loops loops_of(contraction const& p) {
  product_loops loops;
  for (int l = 0; l < p.labels; ++l) {
    std::int64_t const a = p.in_a[l] ? p.a[l] : 0;
    std::int64_t const b = p.in_b[l] ? p.b[l] : 0;
    std::int64_t const c = p.in_c[l] ? p.c[l] : 0;
    switch (class_of(p, l)) {
      case label_class::batch: loops.batch.add(p.extent[l], a, b, c); break;
      case label_class::m: loops.m.add(p.extent[l], a, c); break;
      case label_class::n: loops.n.add(p.extent[l], b, c); break;
      default: loops.k.add(p.extent[l], a, b); break;
    }
  }
  loops.batch.order_by(2);
  loops.m.order_by(1);
  loops.n.order_by(1);
  loops.k.order_by(0);
  loops.batch.merge();
  loops.m.merge();
  loops.n.merge();
  loops.k.merge();
  return loops;
}

/// Returns the block of one operand, with its labels in the order of the contraction.
[[gnu::noinline]] inline strided block_of(contraction const& p, operand which) {
  strided block;
  for (int l = 0; l < p.labels; ++l)
    if (presence_of(p, which)[l]) block.add(p.extent[l], strides_of(p, which)[l]);
  return block;
}

/// Gives an operand strides without gaps, with its labels in the memory order of `model`, so that a copy moves forward;
/// labels that `model` lacks come first. Returns the new size.
[[gnu::cold]] inline std::int64_t close_gaps(contraction& p, operand which, operand model) {
  auto const step_in_model = [&](int l) {
    return presence_of(p, model)[l] ? strides_of(p, model)[l] : std::numeric_limits<std::int64_t>::max();
  };
  std::int64_t* const stride = strides_of(p, which);
  int order[max_loops];
  int rank = 0;
  for (int l = 0; l < p.labels; ++l) {
    if (!presence_of(p, which)[l]) continue;
    int at = rank++;
    for (; at > 0 && step_in_model(order[at - 1]) < step_in_model(l); --at) order[at] = order[at - 1];
    order[at] = l;
  }
  std::int64_t step = 1;
  for (int at = rank - 1; at >= 0; --at) {
    stride[order[at]] = step;
    step *= p.extent[order[at]];
  }
  return step;
}
[[gnu::cold]] inline std::int64_t close_gaps(contraction& p, operand which) { return close_gaps(p, which, which); }

}  // namespace ostraka::engine
