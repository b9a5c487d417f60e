// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a plan on local blocks, step by step: moves of tensors and local contractions. What stays in the block that it is
/// written to is written into the result itself: C <- alpha A B + beta C, and what follows there has to know of what C held before.
///
///     follows in place    alpha                                beta
///     nothing             all devices                          all devices
///     all-reduce          all devices                          the first one along its mesh axes; the others' C is overwritten
///     mask                the first one along its mesh axes    all devices; the mask itself is then nothing to do

#include <Kokkos_Core.hpp>

#include <utility>

#include <ostraka/engine/contraction.hpp>
#include <ostraka/engine/local_block.hpp>
#include <ostraka/engine/moves.hpp>
#include <ostraka/engine/same_call.hpp>
#include <ostraka/engine/update.hpp>
#include <ostraka/plan/describe.hpp>
#include <ostraka/plan/stored_plan.hpp>

namespace ostraka::engine {

namespace detail {

// A Kokkos profiling region named after a step, where a profiler listens.
class profiled {
 public:
  explicit profiled(step kind) : heard_(Kokkos::Tools::profileLibraryLoaded()) {
    if (heard_) Kokkos::Profiling::pushRegion("ostraka " + std::string(planner::name_of(kind)));
  }
  ~profiled() {
    if (heard_) Kokkos::Profiling::popRegion();
  }
  profiled(profiled const&) = delete;
  profiled& operator=(profiled const&) = delete;

 private:
  bool heard_;
};

// Puts the elements where they belong, unless they are there.
template <class Exec, class T>
void put(Exec const& exec, region<T const> const& from, region<T> const& to, update<T> const& how = {}) {
  if (from.data != to.data) copy(exec, to, from, how);
}

// What this device does with C in step number `step_at`, the first that writes there, when those after it rewrite C in place.
template <class T>
update<T> share_of(update<T> how, locale const& w, planner::plan_view const& plan, int step_at) {
  if (how.beta == T(0)) return how;  // nothing to be kept: the steps do what they always do
  for (int i = step_at; i < plan.steps.size(); ++i) {
    planner::planned_step const& s = plan.steps[i];
    if (s.operand != planner::the_result || first_along(w, s.axes)) continue;
    if (s.kind == step::all_reduce) how.beta = T(0);
    if (s.kind == step::mask) how.alpha = T(0);
  }
  return how;
}

// Has the mask been taken care of by share_of?
template <class T>
bool masked_already(planner::planned_step const& s, T const* block, T const* result, update<T> const& how) {
  return s.kind == step::mask && s.operand == planner::the_result && how.beta != T(0) && block != nullptr && block == result;
}

// Enters a tensor of a local contraction: the strides of its labels, and their extents.
template <class T>
void enter(contraction& p, std::int64_t (&strides)[max_loops], bool (&present)[max_loops], planner::spec const& s, region<T> const& block) {
  for (int i = 0; i < s.rank; ++i) {
    p.extent[s.label[i]] = block.layout.extent[i];
    strides[s.label[i]] = block.layout.stride[i];
    present[s.label[i]] = true;
  }
}

// Is it a contraction of one operand that sums nothing: the same elements, perhaps under another order of the labels?
inline bool computes_nothing(planner::planned_step const& s, planner::spec const& from) {
  if (s.right != planner::no_tensor || s.to.rank != from.rank) return false;
  for (int i = 0; i < from.rank; ++i) {
    int const at = s.to.find(from.label[i]);
    if (at < 0 || s.to.over[at].code != from.over[i].code) return false;
  }
  return true;
}

// The block with its dimensions in the order of `to`'s labels.
template <class T>
region<T> reordered(region<T> const& block, planner::spec const& from, planner::spec const& to) {
  region<T> r = block;
  for (int i = 0; i < from.rank; ++i) {
    int const at = to.find(from.label[i]);
    r.layout.extent[at] = block.layout.extent[i];
    r.layout.stride[at] = block.layout.stride[i];
    r.where.at[at] = block.where.at[i];
  }
  return r;
}

// A contraction of no tensors yet.
inline contraction empty_problem(int labels) {
  contraction p;
  p.labels = labels;
  for (int l = 0; l < labels; ++l) p.extent[l] = 1;
  return p;
}

}  // namespace detail

/// The dense local block of a plan's operand number `k`.
template <class Exec, class T>
local_block<Exec, T> operand_block(locale const& w, planner::plan_view const& plan, int k, T const* data) {
  return {dense_region(data, box_of(plan.operands[k], w.here, w.sizes)), nullptr, typename local_block<Exec, T>::room()};
}

/// Runs the plan of an einsum or a reduction. `operands` are the operands' local blocks, which are used up; `result` is the result's, which is
/// updated: result <- alpha (what is computed) + beta result. It overlaps no operand. All of them may be parts of larger blocks: a plan runs
/// over some of the indices of a label that it does not divide if the locale's extent is their number and the regions begin at the first.
/// Collective over the mesh axes of the plan, with equal alpha and beta. @pre alpha = 1 and beta = 0 unless the plan sums
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::plan_view const& plan, local_block<Exec, T>* operands, region<T> const& result, update<T> const& how = {}) {
  require_same_call<T>(w, plan);
  local_block<Exec, T> blocks[planner::max_tensors];
  planner::tensor_states tensors(plan);
  update<T> const arriving{T(1), how.beta};  // once the product has been multiplied by alpha
  for (int k = 0; k < plan.operands.size(); ++k) blocks[k] = std::move(operands[k]);
  for (int i = 0; i < plan.steps.size(); ++i) {
    planner::planned_step const& s = plan.steps[i];
    detail::profiled const region_of_step(s.kind);
    auto& block = blocks[planner::slot_of(s.operand)];
    region<T> const* const room = s.operand == planner::the_result && planner::stays_from(plan.steps, i + 1, planner::the_result) ? &result : nullptr;
    if (s.kind == step::contract && how.alpha == T(1) && detail::computes_nothing(s, tensors.of(s.left))) {
      auto passed_on = std::move(blocks[planner::slot_of(s.left)]);
      passed_on.now = detail::reordered(passed_on.now, tensors.of(s.left), s.to);
      blocks[planner::slot_of(s.left)] = {};
      block = std::move(passed_on);
    } else if (s.kind == step::contract) {
      update<T> const product = s.operand != planner::the_result ? update<T>{} : room ? detail::share_of(how, w, plan, i) : update<T>{how.alpha, T(0)};
      block = room ? local_block<Exec, T>::in(*room) : local_block<Exec, T>::fresh(box_of(s.to, w.here, w.sizes));
      auto& left = blocks[planner::slot_of(s.left)];
      contraction p = detail::empty_problem(w.sizes.labels);
      detail::enter(p, p.a, p.in_a, tensors.of(s.left), left.now);
      detail::enter(p, p.c, p.in_c, s.to, block.now);
      if (s.right == planner::no_tensor) {
        reduce(exec, p, left.now.data, block.mine, plan.how, product);
      } else {
        auto& right = blocks[planner::slot_of(s.right)];
        detail::enter(p, p.b, p.in_b, tensors.of(s.right), right.now);
        contract(exec, p, left.now.data, right.now.data, block.mine, product);
        right = {};
      }
      left = {};
    } else if (!detail::masked_already(s, block.mine, result.data, how)) {
      move(exec, w, s, block, room, room ? detail::share_of(arriving, w, plan, i) : update<T>{});
    }
    tensors.after(s);
  }
  detail::put(exec, blocks[planner::slot_of(planner::the_result)].now, result, arriving);
  exec.fence();
}

/// The same for a result that lies dense in memory.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::plan_view const& plan, local_block<Exec, T>* operands, T* result, update<T> const& how = {}) {
  run(exec, w, plan, operands, dense_region(result, box_of(*plan.result, w.here, w.sizes)), how);
}

/// The same for operands that lie dense in memory as well.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::plan_view const& plan, T const* const* operands, T* result, update<T> const& how = {}) {
  local_block<Exec, T> blocks[planner::max_operands];
  for (int k = 0; k < plan.operands.size(); ++k) blocks[k] = operand_block<Exec>(w, plan, k, operands[k]);
  run(exec, w, plan, blocks, result, how);
}

/// Runs the steps of a reshard from a local block into another. Collective over the mesh axes of the steps.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::reshard_steps const& steps, planner::spec const& from, region<T const> const& source, region<T> const& target) {
  require_same_call<T>(w, steps, from);
  local_block<Exec, T> block;
  block.now = source;
  for (int i = 0; i < steps.size(); ++i) {
    detail::profiled const region_of_step(steps[i].kind);
    move(exec, w, steps[i], block, planner::stays_from(steps, i + 1, steps[i].operand) ? &target : nullptr);
  }
  detail::put(exec, block.now, target);
  exec.fence();
}

/// The same from a dense local block into another. @pre there are steps
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::reshard_steps const& steps, planner::spec const& from, T const* source, T* target) {
  region<T const> const whole = dense_region(source, box_of(from, w.here, w.sizes));
  run(exec, w, steps, from, whole, dense_region(target, box_of(steps[steps.size() - 1].to, w.here, w.sizes)));
}

}  // namespace ostraka::engine
