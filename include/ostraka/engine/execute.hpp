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

#include <optional>
#include <utility>

#include <ostraka/engine/joined_contraction.hpp>
#include <ostraka/engine/local/contraction.hpp>
#include <ostraka/engine/local/update.hpp>
#include <ostraka/engine/local_block.hpp>
#include <ostraka/engine/loops_of_labels.hpp>
#include <ostraka/engine/moves.hpp>
#include <ostraka/engine/same_call.hpp>
#include <ostraka/plan/describe.hpp>
#include <ostraka/plan/joined.hpp>
#include <ostraka/plan/message_order.hpp>
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

// The tensors on their way through a plan: those that there are at a time.
template <class Exec, class T>
class blocks_on_their_way {
 public:
  // A new one, which is to begin its way.
  void enter(int tensor, planner::spec const& as, local_block<Exec, T> block) {
    block_[planner::slot_of(tensor)].emplace(std::move(block));
    moved(tensor, as);
  }
  void moved(int tensor, planner::spec const& to) { spec_[planner::slot_of(tensor)] = &to; }
  void leave(int tensor) { block_[planner::slot_of(tensor)].reset(); }

  [[nodiscard]] local_block<Exec, T>& block(int tensor) { return *block_[planner::slot_of(tensor)]; }
  [[nodiscard]] planner::spec const& spec(int tensor) const { return *spec_[planner::slot_of(tensor)]; }

 private:
  std::optional<local_block<Exec, T>> block_[planner::max_tensors];
  planner::spec const* spec_[planner::max_tensors];
};

// Where the steps from number `next` on leave the tensor where step `next` - 1 writes it: the result's place.
template <class T>
region<T> const* room_for(planner::plan_view const& plan, int next, int tensor, region<T> const& result) {
  return tensor == planner::the_result && planner::stays_from(plan.steps, next, planner::the_result) ? &result : nullptr;
}

// The block that a contraction writes to.
template <class Exec, class T>
local_block<Exec, T> block_of_product(locale const& w, planner::plan_view const& plan, int step_at, region<T> const* room) {
  if (room) return local_block<Exec, T>::in(*room);
  planner::planned_step const& s = plan.steps[step_at];
  box const target = box_of(s.to, w.here, w.sizes);
  if (!planner::messages_at(plan.steps, step_at, w.sizes).result) return local_block<Exec, T>::fresh(target);
  planner::planned_step const& next = plan.steps[planner::next_after(plan.steps, step_at, s.operand)];
  return local_block<Exec, T>::fresh(as_message<T>(w, nullptr, target, planner::loops_of_sent(next, w.sizes)));
}

// A contraction of one tensor: a sum over labels, or the tensor under another order of them.
template <class Exec, class T>
void reduce_step(Exec const& exec, locale const& w, planner::plan_view const& plan, int step_at, blocks_on_their_way<Exec, T>& tensors,
                 region<T> const* room, update<T> const& how, update<T> const& product) {
  planner::planned_step const& s = plan.steps[step_at];
  planner::spec const& from = tensors.spec(s.left);
  local_block<Exec, T>& left = tensors.block(s.left);
  if (how.alpha == T(1) && planner::computes_nothing(s, from)) {
    left.now = reordered(left.now, from, s.to);
    tensors.enter(s.operand, s.to, std::move(left));
    return;
  }
  tensors.enter(s.operand, s.to, block_of_product<Exec>(w, plan, step_at, room));
  local_block<Exec, T>& block = tensors.block(s.operand);
  reduce(exec, loops_of_labels<T>(w.sizes.labels, {{&from, &left.now}, {}, {&s.to, &block.now}}), left.now.data, block.mine, plan.how, product);
}

// A contraction, with the move next to it if it is joined with one.
template <class Exec, class T>
void contract_step(Exec const& exec, locale const& w, planner::plan_view const& plan, int step_at, blocks_on_their_way<Exec, T>& tensors,
                   region<T> const& result, update<T> const& how) {
  planner::planned_step const& s = plan.steps[step_at];
  int const joined = w.here.nowhere ? -1 : planner::joined_with(plan.steps, step_at, w.sizes);
  planner::planned_step const* const move = joined < 0 ? nullptr : &plan.steps[joined];
  bool const scatters = joined > step_at;
  region<T> const* const room = room_for(plan, (scatters ? joined : step_at) + 1, s.operand, result);
  update<T> const as = s.operand != planner::the_result ? update<T>{} : room ? share_of(how, w, plan, step_at) : update<T>{how.alpha, T(0)};
  if (s.right == planner::no_tensor) {
    reduce_step(exec, w, plan, step_at, tensors, room, how, as);
    return tensors.leave(s.left);
  }
  planner::spec const& to = scatters ? move->to : s.to;
  tensors.enter(s.operand, to, scatters && !room ? local_block<Exec, T>::fresh(box_of(to, w.here, w.sizes)) : block_of_product<Exec>(w, plan, step_at, room));
  local_block<Exec, T>& block = tensors.block(s.operand);
  local_block<Exec, T> const& left = tensors.block(s.left);
  local_block<Exec, T> const& right = tensors.block(s.right);
  block_product<T> const product{{&tensors.spec(s.left), &tensors.spec(s.right), &to}, {left.now, right.now, block.now}, block.mine};
  if (scatters)
    contract_and_scatter(exec, w, *move, product, block.target(), as);
  else if (move)
    gather_and_contract(exec, w, *move, move->operand == s.left ? 0 : 1, product, as);
  else
    product.multiply(exec, w, as);
  tensors.leave(s.left);
  tensors.leave(s.right);
}

template <class Exec, class T>
void run_steps(Exec const& exec, locale const& w, planner::plan_view const& plan, blocks_on_their_way<Exec, T>& tensors, region<T> const& result,
               update<T> const& how) {
  update<T> const arriving{T(1), how.beta};  // once the product has been multiplied by alpha
  for (int i = 0; i < plan.steps.size(); ++i) {
    planner::planned_step const& s = plan.steps[i];
    if (!w.here.nowhere && planner::is_joined(plan.steps, i, w.sizes)) continue;  // a contraction does it
    profiled const region_of_step(s.kind);
    if (s.kind == step::contract) {
      contract_step(exec, w, plan, i, tensors, result, how);
      continue;
    }
    region<T> const* const room = room_for(plan, i + 1, s.operand, result);
    auto& block = tensors.block(s.operand);
    if (!masked_already(s, block.mine, result.data, how)) {
      bool const as_it_arrives = s.operand != planner::the_result && planner::stays_message(plan.steps, i, w.sizes);
      move(exec, w, s, block, room, room ? share_of(arriving, w, plan, i) : update<T>{}, as_it_arrives);
    }
    tensors.moved(s.operand, s.to);
  }
  put(exec, tensors.block(planner::the_result).now, result, arriving);
  exec.fence();
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
void run(Exec const& exec, locale const& w, planner::plan_view const& plan, local_block<Exec, T>* operands, region<T> const& result,
         update<T> const& how = {}) {
  require_same_call<T>(w, plan);
  detail::blocks_on_their_way<Exec, T> tensors;
  for (int k = 0; k < plan.operands.size(); ++k) tensors.enter(k, plan.operands[k], std::move(operands[k]));
  detail::run_steps(exec, w, plan, tensors, result, how);
}

/// The same for operands and a result that lie dense in memory.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::plan_view const& plan, T const* const* operands, T* result, update<T> const& how = {}) {
  require_same_call<T>(w, plan);
  detail::blocks_on_their_way<Exec, T> tensors;
  for (int k = 0; k < plan.operands.size(); ++k) tensors.enter(k, plan.operands[k], operand_block<Exec>(w, plan, k, operands[k]));
  detail::run_steps(exec, w, plan, tensors, dense_region(result, box_of(*plan.result, w.here, w.sizes)), how);
}

/// Runs the steps of a reshard from a local block into another. Collective over the mesh axes of the steps.
template <class Exec, class T>
void run(Exec const& exec, locale const& w, planner::reshard_steps const& steps, planner::spec const& from, region<T const> const& source,
         region<T> const& target) {
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

}  // namespace ostraka::engine
