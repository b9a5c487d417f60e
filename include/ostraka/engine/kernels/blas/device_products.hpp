// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction on a GPU as strided-batched products of its library: on the blocks as they lie, or on copies
/// of whole operands where those save calls. Nothing is gathered panel by panel, as on the host: a GPU's time goes into
/// calls and bytes.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/matrix_product.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/copy.hpp>
#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/products/algorithms.hpp>
#include <ostraka/engine/kernels/products/plan_cache.hpp>
#include <ostraka/engine/kernels/products/whole_packing.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

/// Microseconds from one start on a GPU to the next, and bytes that it copies in one, roughly: none has been timed.
inline constexpr double device_start = 5;
inline constexpr double device_bytes = 1e6;

/// The loop around the matrices that the library walks as its batch, the longest that it can count; -1 if there is
/// none.
inline int batched_loop(loop_nest<3> const& outer) {
  int found = -1;
  for (int d = 0; d < outer.rank; ++d)
    if (outer.extent[d] <= cblas_limit && (found < 0 || outer.extent[d] > outer.extent[found])) found = d;
  return found;
}

/// Calls of the library that add up one part of C.
inline std::int64_t summands_of(contraction_plan const& plan) { return plan.k.outer.size() * plan.k.panels(); }

inline std::int64_t calls_of(contraction_plan const& plan) {
  int const batched = batched_loop(plan.outer);
  return plan.tasks() / (batched < 0 ? 1 : plan.outer.extent[batched]) * summands_of(plan);
}

inline double microseconds_of(contraction_plan const& plan, std::int64_t element_bytes) {
  double time = static_cast<double>(calls_of(plan)) * device_start;
  for (operand const which : {operand::a, operand::b, operand::c}) {
    if (!plan.copied[static_cast<int>(which)]) continue;
    double const moved = static_cast<double>(block_of(plan.problem, which).size() * element_bytes);
    time += device_start + (which == operand::c ? 3 : 2) * moved / device_bytes;  // C is written, read, and added to C
  }
  return time;
}

/// The cheapest plan of products for these copies (bits 0, 1, 2: a, b, c); `best` stays if none is cheaper.
template <class T>
void try_on_device(contraction_plan& best, contraction const& problem, int copied) {
  contraction_plan candidate;
  candidate.problem = problem;
  for (operand const which : {operand::c, operand::a, operand::b}) {
    candidate.copied[static_cast<int>(which)] = (copied >> static_cast<int>(which) & 1) != 0;
    if (candidate.copied[static_cast<int>(which)]) pack_strides(candidate.problem, which);
  }
  product_loops const loops = loops_of(candidate.problem);
  plan_choice choice{{false, false, false}, {0, 0, 0}};
  plan_groups const groups(loops, choice.pack);
  for (choice.group[0] = 0; choice.group[0] < groups.m.count; ++choice.group[0])
    for (choice.group[1] = 0; choice.group[1] < groups.n.count; ++choice.group[1])
      for (choice.group[2] = 0; choice.group[2] < groups.k.count; ++choice.group[2]) {
        if (!complete_plan<T>(candidate, groups, choice, 0)) continue;
        complete_outer_loops(candidate, loops);
        if (is_narrow<T> && summands_of(candidate) > 1) continue;  // C would be rounded after each of them
        candidate.cost = microseconds_of(candidate, static_cast<std::int64_t>(sizeof(T)));
        if (!best.library || candidate.cost < best.cost) best = candidate;
      }
}

}  // namespace detail

/// How a GPU's library computes a contraction; not at all where there is nothing for it. @pre as plan_contraction
template <class T>
contraction_plan plan_on_device(contraction const& problem) {
  contraction_plan best;
  product_loops const loops = loops_of(problem);
  if (loops.k.size() == 1 || (loops.m.size() == 1 && loops.n.size() == 1)) return best;
  for (int copied = 0; copied < 8; ++copied) detail::try_on_device<T>(best, problem, copied);
  return best;
}

namespace detail {

/// The products of a plan, in the order of what was started on the instance before.
template <class Library, class Exec, class T>
void run_on_device(Exec const& exec, contraction_plan const& plan, T const* a, T const* b, T* c, update<T> const& how) {
  matrix_product product{plan.by_rows, 1, 1, 1, plan.a, plan.b, plan.c.leading, 1, {0, 0, 0}};
  int const batched = batched_loop(plan.outer);
  loop_nest<3> around;
  for (int d = 0; d < plan.outer.rank; ++d) {
    if (d != batched) {
      around.add(plan.outer.extent[d], plan.outer.stride[0][d], plan.outer.stride[1][d], plan.outer.stride[2][d]);
      continue;
    }
    product.batch = plan.outer.extent[d];
    for (int o = 0; o < 3; ++o) product.step[o] = plan.outer.stride[o][d];
  }
  loop_walker<3> at(around, 0);
  for (std::int64_t turn = around.size(); turn > 0; --turn, at.next())
    for (std::int64_t m = 0; m < plan.m.extent; m += plan.m.panel)
      for (std::int64_t n = 0; n < plan.n.extent; n += plan.n.panel) {
        product.m = std::min(plan.m.panel, plan.m.extent - m);
        product.n = std::min(plan.n.panel, plan.n.extent - n);
        update<T> next = how;
        loop_walker<2> k_outer(plan.k.outer, 0);
        for (std::int64_t part = plan.k.outer.size(); part > 0; --part, k_outer.next())
          for (std::int64_t k = 0; k < plan.k.extent; k += plan.k.panel, next.beta = accumulator_of_t<T>(1)) {
            product.k = std::min(plan.k.panel, plan.k.extent - k);
            Library::multiply(exec, product,
                              a + at.offset[0] + k_outer.offset[0] + m * plan.m.step(0) + k * plan.k.step(0),
                              b + at.offset[1] + k_outer.offset[1] + k * plan.k.step(1) + n * plan.n.step(0), next,
                              c + at.offset[2] + m * plan.m.step(1) + n * plan.n.step(1));
          }
      }
}

}  // namespace detail

/// c <- alpha A B + beta c by the library, and whether it does that.
template <class Library, class Exec, class T>
bool contract_on_device(Exec const& exec, contraction const& p, T const* a, T const* b, T* c, update<T> const& how,
                        plan_ticket& ticket) {
  contraction_plan const* const found = detail::plan_cache<T, &plan_on_device<T>>::instance().find(p, ticket);
  if (found == nullptr || !found->library) return false;
  contraction_plan const& plan = *found;
  using room = kernel_scratch<T, typename Exec::memory_space>;
  auto const room_for = [&](operand which) {
    return room(plan.copied[static_cast<int>(which)] ? block_of(p, which).size() : 0);
  };
  room const copy_of_a = room_for(operand::a), copy_of_b = room_for(operand::b), copy_of_c = room_for(operand::c);
  if (plan.copied[0]) copy(exec, copy_of_a.data(), block_of(plan.problem, operand::a), a, block_of(p, operand::a));
  if (plan.copied[1]) copy(exec, copy_of_b.data(), block_of(plan.problem, operand::b), b, block_of(p, operand::b));
  T const* const left = plan.copied[0] ? copy_of_a.data() : a;
  T const* const right = plan.copied[1] ? copy_of_b.data() : b;
  if (!plan.copied[2]) {
    detail::run_on_device<Library>(exec, plan, left, right, c, how);
    return true;
  }
  using wide = accumulator_of_t<T>;
  detail::run_on_device<Library>(exec, plan, left, right, copy_of_c.data(), update<T>{how.alpha, wide(0)});
  copy(exec, c, block_of(p, operand::c), static_cast<T const*>(copy_of_c.data()), block_of(plan.problem, operand::c),
       update<T>{wide(1), how.beta});
  return true;
}

}  // namespace ostraka::engine
