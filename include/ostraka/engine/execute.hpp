// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a plan on local blocks, step by step: the operands' moves, the local contraction, the result's moves. The last
/// step writes into the result itself.

#include <Kokkos_Core.hpp>

#include <ostraka/engine/contraction.hpp>
#include <ostraka/engine/local_block.hpp>
#include <ostraka/engine/moves.hpp>
#include <ostraka/plan/describe.hpp>
#include <ostraka/plan/plan.hpp>

namespace ostraka::engine {

namespace detail {

// A Kokkos profiling region named after a step.
class profiled {
 public:
  explicit profiled(step kind) { Kokkos::Profiling::pushRegion("ostraka " + std::string(planner::name_of(kind))); }
  ~profiled() { Kokkos::Profiling::popRegion(); }
  profiled(profiled const&) = delete;
  profiled& operator=(profiled const&) = delete;
};

// The strides by label of the operands as they now stand and of the result.
template <class T>
contraction local_problem(planner::einsum_plan const& plan, region<T const> const* operands, planner::spec const& result_spec, strided const& result, int labels) {
  contraction p;
  p.labels = labels;
  for (int l = 0; l < labels; ++l) p.extent[l] = 1;
  for (int k = 0; k < plan.operands.size(); ++k)
    for (int i = 0; i < plan.operands[k].rank; ++i) {
      int const l = plan.operands[k].label[i];
      p.extent[l] = operands[k].layout.extent[i];
      (k == 0 ? p.a : p.b)[l] = operands[k].layout.stride[i];
      (k == 0 ? p.in_a : p.in_b)[l] = true;
    }
  for (int i = 0; i < result_spec.rank; ++i) {
    p.c[result_spec.label[i]] = result.stride[i];
    p.in_c[result_spec.label[i]] = true;
  }
  return p;
}

template <class Exec, class T>
void contract_step(Exec const& exec, planner::einsum_plan const& plan, local_block<Exec, T> const* operands, region<T> const& to,
                   planner::spec const& result, int labels, reduction how) {
  region<T const> now[planner::max_operands];
  for (int k = 0; k < plan.operands.size(); ++k) now[k] = operands[k].now;
  contraction const p = local_problem(plan, now, result, to.layout, labels);
  if (plan.operands.size() == 2)
    contract(exec, p, now[0].data, now[1].data, to.data);
  else
    reduce(exec, p, now[0].data, to.data, how);
}

}  // namespace detail

/// Runs the plan of an einsum or a reduction. `operands` points to each operand's dense local block, `result` to room for the result's.
/// Collective over the mesh axes of the plan.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::einsum_plan const& plan, T const* const* operands, T* result, reduction how = reduction::sum) {
  local_block<Exec, T> blocks[planner::max_operands];
  for (int k = 0; k < plan.operands.size(); ++k) blocks[k].now = dense_region(operands[k], box_of(plan.operands[k], w.here, w.sizes));
  local_block<Exec, T> sum;
  for (int i = 0; i < plan.steps.size(); ++i) {
    planner::planned_step const& s = plan.steps[i];
    detail::profiled const region_of_step(s.kind);
    if (s.operand != planner::the_result) {
      move(exec, w, s, blocks[s.operand], how);
      continue;
    }
    bool const last = i + 1 == plan.steps.size();
    box const target = box_of(s.to, w.here, w.sizes);
    if (s.kind == step::contract) {
      if (!last) sum = local_block<Exec, T>::fresh(target);
      detail::contract_step(exec, plan, blocks, dense_region(last ? result : sum.own.data(), target), s.to, w.sizes.labels, how);
      for (auto& b : blocks) b = {};
    } else if (last) {
      move_into(exec, w, s, sum.now, dense_region(result, target), how);
    } else {
      move(exec, w, s, sum, how);
    }
  }
  exec.fence();
}

/// Runs the steps of a reshard from a dense local block into another. Collective over the mesh axes of the steps.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::reshard_steps const& steps, planner::spec const& from, T const* source, T* target) {
  local_block<Exec, T> block;
  block.now = dense_region(source, box_of(from, w.here, w.sizes));
  for (int i = 0; i < steps.size(); ++i) {
    detail::profiled const region_of_step(steps[i].kind);
    if (i + 1 == steps.size())
      move_into(exec, w, steps[i], block.now, dense_region(target, box_of(steps[i].to, w.here, w.sizes)), reduction::sum);
    else
      move(exec, w, steps[i], block, reduction::sum);
  }
  exec.fence();
}

}  // namespace ostraka::engine
