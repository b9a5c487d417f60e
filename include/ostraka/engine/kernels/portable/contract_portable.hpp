// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Chooses among our own kernels, and cuts a long sum into parts if there are too few outputs to occupy the
/// machine (C[i] = A[i, k] B[k] with two rows and a million columns).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/folds/fold_transposed.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/portable/arranged_product.hpp>
#include <ostraka/engine/kernels/portable/batch_vectorised.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/portable/contract_teams.hpp>
#include <ostraka/engine/kernels/portable/contract_tiles.hpp>
#include <ostraka/engine/kernels/portable/product_kernels.hpp>
#include <ostraka/engine/kernels/reduce.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// Returns the operands for loops whose A and B have been exchanged.
template <class T>
product_operands<T> transposed_operands(product_operands<T> in, product_loops const& transposed) {
  std::swap(in.a, in.b);
  in.k = transposed.k;
  return in;
}

/// Returns a product of matrices in tiles of teams. Neighbouring threads are along the side on which C is contiguous.
template <class Exec, class T, int side = 16, int each = 4>
contract_teams<Exec, T, side, each> teams_of(product_loops const& loops, product_operands<T> const& in) {
  auto const finer = [](loop_nest<2> const& x, int of_x, loop_nest<2> const& y, int of_y) {
    int const d = smallest_step(x, of_x), e = smallest_step(y, of_y);
    return d >= 0 && (e < 0 || x.stride[of_x][d] < y.stride[of_y][e]);
  };
  auto const teams = [&](product_loops const& p, product_operands<T> const& operands) {
    return contract_teams<Exec, T, side, each>{
        operands, p.batch, p.m, p.n, finer(p.k, 0, p.m, 0), finer(p.k, 1, p.n, 0)};
  };
  if (!finer(loops.m, 1, loops.n, 1)) return teams(loops, in);
  product_loops const transposed = loops.transposed();
  return teams(transposed, transposed_operands(in, transposed));
}

/// c <- alpha a b, for products that are not summed.
template <class Exec, class T>
void multiply_elements(Exec const& exec, loop_nest<3> const& outputs, T const* a, T const* b, T* c, T alpha) {
  loop_nest<3> loops;
  for (int d = 0; d < outputs.rank; ++d)
    loops.add(outputs.extent[d], outputs.stride[2][d], outputs.stride[0][d], outputs.stride[1][d]);
  map_elements(exec, loops, scaled_product<T>{alpha}, c, a, b);
}

/// Folds in parts along loop `across` of the sum, along which the two blocks are transposed relative to each other.
template <class Exec, class T>
[[gnu::cold, gnu::noinline]] void fold_parts(Exec const& exec, sum_of_products<T> const& products,
                                             loop_nest<3>& outputs, loop_nest<2>& reduced, int across, T* c,
                                             update<T> const& how) {
  std::int64_t const results = outputs.size(), parts = reduced.extent[across];
  loops_of_parts<2> const together(outputs, parts);
  outputs.add(parts, reduced.stride[0][across], reduced.stride[1][across], results);
  reduced.remove(across);
  kernel_scratch<T, typename Exec::memory_space> const partial(parts * results);
  run_fold(exec, products, outputs, reduced, partial.data(), update<T>{});
  run_fold(exec, products.of_parts(partial.data()), together.outputs, together.over, c, how);
}

/// c <- alpha (products) + beta c, for arranged products.
template <class Exec, class T>
void fold_products(Exec const& exec, product_loops const& loops, product_fold const& fold, T const* a, T const* b, T* c,
                   update<T> const& how, product_kernels<Exec, T> const& kernels) {
  if (fold.is_exchanged) std::swap(a, b);
  bool const is_cached = fold.largest_operand * std::int64_t(sizeof(T)) <= cached_bytes;
  sum_of_products<T> const products{a, b, kernels.shared, is_cached};
  if (fold.is_one_row && (fold.elements <= serial_elements || !has_threads(exec))) {
    if (!computes()) return;
    fence(exec);
    return fold_rows<T, sum_of_products<T>>{products, c, how, 1, 0, fold.shape, {}}.fold_one_row();
  }
  int const across = kernels.fold_parts == nullptr ? -1 : fold.across;
  std::int64_t const parts = across >= 0 ? 0 : fold.parts;
  if (parts == 1) return run_arranged(exec, products, fold.shape, fold.elements, c, how);
  loop_nest<3> outputs = output_loops(loops);
  loop_nest<2> reduced = loops.k.copied();
  fold.order(outputs, reduced);
  if (across < 0)
    fold_in_parts(exec, products, outputs, reduced, parts, c, how, fold.result_is_largest);
  else
    kernels.fold_parts(exec, products, outputs, reduced, across, c, how);
}

/// True if there are enough rows and columns for a team. The number of teams then fits an int, since the results of
/// more would fit no memory.
inline bool worth_teams(product_loops const& loops) {
  return loops.m.size() >= 32 && loops.n.size() >= 32 && loops.k.size() >= 8;
}

/// Runs tiles on the host. Each thread has its own panels, small ones on the stack.
template <class Exec, class T>
void run_tiles(Exec const& exec, product_loops const& loops, product_operands<T> const& in, std::int64_t elements) {
  std::int64_t const most = elements <= serial_products ? 1 : exec.concurrency();
  contract_tiles<T> const tiles(loops, in, most);
  std::int64_t const tasks = tiles.tasks(), buffer_size = tiles.buffer_size(), threads = std::min(most, tasks);
  constexpr std::int64_t small = 16384 / static_cast<std::int64_t>(sizeof(T));
  if (threads == 1 && buffer_size <= small) {
    alignas(64) unsigned char panels[small * sizeof(T)];
    fence(exec);
    return tiles.run(0, tasks, reinterpret_cast<T*>(panels), true);
  }
  kernel_scratch<T, typename Exec::memory_space> const panels(threads * buffer_size);
  T* const first = panels.data();
  for_each_share("ostraka contract tiles", exec, tasks, threads, elements,
                 [=, &tiles](std::int64_t begin, std::int64_t end, std::int64_t thread) {
                   tiles.run(begin, end, first + thread * buffer_size, threads == 1);
                 });
}

/// True if the operations that the calling thread has in flight progress during the product by our own kernels. @pre no
/// label is in one operand alone; no extent is 0
template <class T, class Exec>
bool progresses_in_tiles(Exec const& exec, contraction const& p) {
  product_loops const loops = loops_of(p);
  return exec.concurrency() == 1 && loops.k.size() > 1 && !is_batch_vectorised<T>(loops) && worth_tiles(loops);
}

template <class Exec, class T>
void run_kernel(Exec const& exec, product_loops const& loops, product_operands<T> const& in) {
  std::int64_t const elements = loops.batch.size() * loops.m.size() * loops.n.size() * loops.k.size();
  if constexpr (runs_on_host<Exec>) {
    run_tiles(exec, loops, in, elements);
  } else {
    if (worth_teams(loops)) return teams_of<Exec>(loops, in).run(exec);
    contract_elements<T> const kernel{in, output_loops(loops)};
    for_each_item("ostraka contract elements", exec, in.parts * kernel.outputs.size(), elements, kernel);
  }
}

/// Returns the number of parts that the sum is cut into. On the host, threads share the tiles if there are several;
/// with fewer results, the sum must be long enough for several parts.
template <class Exec, class T>
std::int64_t parts_of_sum(product_loops const& loops) {
  std::int64_t const k = loops.k.size(), results = loops.batch.size() * loops.m.size() * loops.n.size();
  if constexpr (runs_on_host<Exec>) {
    constexpr std::int64_t enough_results = 65536, worth_a_part = 1 << 21, shortest = 1024;
    return std::max<std::int64_t>(
        1, std::min({enough_results / results, results * k / worth_a_part, k / shortest, std::int64_t(64)}));
  } else {
    std::int64_t const of_item = worth_teams(loops) ? contract_teams<Exec, T>::outputs : 1,
                       items = (results + of_item - 1) / of_item;
    return parts_of_fold<Exec>(items, results / items * k, k);
  }
}

/// Computes the sum in parts, whose results are gapless blocks, and then their sum.
template <class Exec, class T>
[[gnu::cold, gnu::noinline]] void contract_parts(Exec const& exec, contraction const& p, std::int64_t parts, T const* a,
                                                 T const* b, T* c, update<T> const& how) {
  contraction partial = p;
  std::int64_t const step = close_gaps(partial, operand::c);
  kernel_scratch<T, typename Exec::memory_space> const partial_results(parts * step);
  product_loops const partial_loops = loops_of(partial);
  run_kernel(exec, partial_loops, product_operands<T>{a, b, partial_results.data(), parts, step, partial_loops.k, {}});

  T* const sum = partial_results.data();
  if constexpr (runs_on_host<Exec>) {  // short compared with the parts, so no reduction is compiled for it
    strided const gapless = strided().add(step, 1);
    for (std::int64_t part = 1; part < parts; ++part)
      copy(exec, sum, gapless, static_cast<T const*>(sum) + part * step, gapless, update<T>{T(1), T(1)});
    copy(exec, c, block_of(p, operand::c), static_cast<T const*>(sum), block_of(partial, operand::c), how);
  } else {
    reduction_loops over;
    for (int l = 0; l < p.labels; ++l)
      if (p.in_c[l]) over.outputs.add(p.extent[l], partial.c[l], p.c[l]);
    over.reduced.add(parts, step);
    run_reduction<T>(exec, over, sum, c, reduction::sum, how);
  }
}

/// The contraction by our own kernels, by its arrangement `known`, or null. @pre no label is in one operand alone; no
/// extent is 0
template <class Exec, class T>
void contract_portable(Exec const& exec, contraction const& p, T const* a, T const* b, T* c, update<T> const& how,
                       product_kernels<Exec, T> const& kernels = every_product_kernel<Exec, T>(),
                       arranged_product const* known = nullptr) {
  if (known == nullptr) {
    arranged_product const arranged = arrange_product<T>(p);
    return contract_portable(exec, p, a, b, c, how, kernels, &arranged);
  }
  product_loops const& loops = known->loops;
  bool const is_sum = known->is_sum, is_added = how.beta != T(0);
  if (!is_sum && !is_added && kernels.unsummed != nullptr)
    return kernels.unsummed(exec, output_loops(loops), a, b, c, T(how.alpha));
  bool const in_batch = runs_on_host<Exec> && kernels.batch != nullptr && known->is_batch;
  if constexpr (runs_on_host<Exec>)
    if (!in_batch && ((!is_sum && is_added) || known->is_fold))
      return fold_products(exec, loops, known->fold, a, b, c, how, kernels);
  product_operands<T> const in{a, b, c, 1, 0, loops.k, how};
  if (in_batch) return kernels.batch(exec, loops, in);
  std::int64_t const parts = parts_of_sum<Exec, T>(loops);
  if (parts > 1) return contract_parts(exec, p, parts, a, b, c, how);
  run_kernel(exec, loops, in);
}

}  // namespace ostraka::engine::detail
