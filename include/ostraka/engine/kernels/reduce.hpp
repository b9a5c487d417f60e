// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduces one block over some of its labels: C[I] = sum (or max, min) over J of A[I, J]. Long reductions with
/// few results are cut into parts. The number of parts depends only on the extents, so the result does not depend on
/// the number of threads. Sums and products of 16-bit elements are floats until they are complete; an element is
/// converted when it is added.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/folds/reduce_kernel.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

/// The loops of a reduction. Offsets: outputs {a, c}, reduced {a}.
struct reduction_loops {
  loop_nest<2> outputs;
  loop_nest<1> reduced;

  /// Returns the loops in the order of memory, with contiguous loops merged.
  reduction_loops ordered() const {
    reduction_loops loops = *this;
    loops.outputs.order_by(1);
    loops.outputs.merge();
    loops.reduced.order_by(0);
    loops.reduced.merge();
    return loops;
  }
};

template <class Exec, class T, class From, class To>
void start_reduction(Exec const& exec, reduction_loops const& loops, reduction_operands<T, From, To> const& in) {
  reduce_elements<T, From, To> const kernel{in, loops.outputs};
  for_each_item("ostraka reduce elements", exec, in.parts * loops.outputs.size(),
                loops.outputs.size() * loops.reduced.size(), kernel);
}

/// Reduces with one output per thread. @pre the loops are ordered
template <class T, class Exec, class Element>
void reduce_on_device(Exec const& exec, reduction_loops const& loops, Element const* a, Element* c, reduction how,
                      update<Element> const& into) {
  std::int64_t const results = loops.outputs.size();
  std::int64_t const parts = parts_of_fold<Exec>(results, loops.reduced.size(), loops.reduced.size());
  T const start = identity<T>(how);
  if (parts == 1) {
    start_reduction(exec, loops, reduction_operands<T, Element, Element>{a, c, how, start, 1, 0, loops.reduced, into});
    return;
  }
  reduction_loops into_parts = loops;  // the same outputs, gapless in the order of the loops
  reduction_loops from_parts;
  std::int64_t step = results;
  for (int d = 0; d < loops.outputs.rank; ++d) {
    step /= loops.outputs.extent[d];
    into_parts.outputs.stride[1][d] = step;
    from_parts.outputs.add(loops.outputs.extent[d], step, loops.outputs.stride[1][d]);
  }
  from_parts.reduced.add(parts, results);
  kernel_scratch<T, typename Exec::memory_space> const partial(parts * results);
  start_reduction(exec, into_parts,
                  reduction_operands<T, Element>{a, partial.data(), how, start, parts, results, loops.reduced, {}});
  start_reduction(exec, from_parts,
                  reduction_operands<T, T, Element>{partial.data(), c, how, start, 1, 0, from_parts.reduced, into});
}

/// T: the type in which elements are combined.
template <class T, class Exec, class Element>
void run_reduction(Exec const& exec, reduction_loops const& loops, Element const* a, Element* c, reduction how,
                   update<Element> const& into) {
  if constexpr (runs_on_host<Exec>)
    run_fold(exec, reduction_of<T, Element>{a, how, identity<T>(how)}, loops.outputs, loops.reduced, c, into);
  else
    reduce_on_device<T>(exec, loops.ordered(), a, c, how, into);
}

}  // namespace detail

/// c <- alpha · (reduction of a over its labels that c lacks) + beta · c; a reduction of nothing is the identity.
/// Labels that only c has repeat the result; b is ignored. @pre alpha = 1 and beta = 0 unless the reduction is a sum
template <class Exec, class T>
void reduce(Exec const& exec, contraction const& p, T const* a, T* c, reduction how, update<T> const& into = {}) {
  detail::reduction_loops loops;
  for (int l = 0; l < p.labels; ++l) {
    if (p.in_c[l]) loops.outputs.add(p.extent[l], p.in_a[l] ? p.a[l] : 0, p.c[l]);
    else if (p.in_a[l]) loops.reduced.add(p.extent[l], p.a[l]);
  }
  if (loops.outputs.size() == 0) return;
  if (loops.reduced.size() == 0 || into.alpha == T(0)) {
    strided const block = block_of(p, operand::c);
    into.overwrites() ? fill(exec, c, block, identity<T>(how)) : scale(exec, c, block, into.beta);
    return;
  }
  if (loops.reduced.size() == 1) {  // nothing to reduce
    strided from, to;
    for (int d = 0; d < loops.outputs.rank; ++d) {
      from.add(loops.outputs.extent[d], loops.outputs.stride[0][d]);
      to.add(loops.outputs.extent[d], loops.outputs.stride[1][d]);
    }
    copy(exec, c, to, a, from, into);
    return;
  }
  require_reducible<T>(how);
  if constexpr (is_narrow<T>)
    if (how == reduction::sum || how == reduction::prod)
      return detail::run_reduction<accumulator_of_t<T>>(exec, loops, a, c, how, into);
  detail::run_reduction<T>(exec, loops, a, c, how, into);
}

}  // namespace ostraka::engine
