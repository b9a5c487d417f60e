// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A run of a plan on local blocks, step by step: moves of tensors and local contractions. What stays in the block that it is
/// written to is written into the result itself: C <- alpha A B + beta C, and what follows there has to know of what C held before.
///
///     follows in place    alpha                                beta
///     nothing             all devices                          all devices
///     all-reduce          all devices                          the first one along its mesh axes; the others' C is overwritten
///     mask                the first one along its mesh axes    all devices; the mask itself is then nothing to do

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <utility>

#include <ostraka/engine/kernels/reduce.hpp>
#include <ostraka/engine/kernels/update.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/moves/message_blocks.hpp>
#include <ostraka/engine/moves/moves.hpp>
#include <ostraka/engine/run/fused_contraction.hpp>
#include <ostraka/engine/run/loops_of_labels.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/run/run_record.hpp>
#include <ostraka/engine/run/travelling.hpp>
#include <ostraka/plan/lowering/decide.hpp>
#include <ostraka/plan/spec/describe.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::engine {

namespace detail {

// Puts the elements where they belong, unless they are there.
template <class Exec, class T>
void put(Exec const& exec, region<T const> const& from, region<T> const& to, update<T> const& how = {}) {
  if (from.data != to.data) copy(exec, to, from, how);
}

// What this device does with C in step number `step_at`, the first that writes there, when those after it rewrite C in
// place.
template <class T>
update<T> share_of(update<T> how, execution_context const& w, planner::plan_view const& plan, int step_at) {
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
  return s.kind == step::mask && s.operand == planner::the_result && how.beta != T(0) && block != nullptr &&
         block == result;
}

// A run of a plan: what does not change from run to run is in its record.
template <class Exec, class T>
class plan_run {
 public:
  plan_run(Exec const& exec, execution_context const& w, planner::plan_view const& plan, run_record<T>& record,
           update<T> const& how, placement* places = nullptr)
      : exec_(exec), w_(w), plan_(plan), record_(record), how_(how), memory_(places) {
    record_.decide_on(plan_);
  }

  /// Operand number `k`, which is to begin its way.
  travelling<Exec, T>& enter(int k, region<T const> const& shape, T const* data) {
    travelling<Exec, T>& t = tensors_[k];
    t.labels = &plan_.operands[k];
    t.shape = &shape;
    t.data = data;
    return t;
  }

  void to(region<T> const& result) {
    update<T> const arriving{T(1), how_.beta};  // once the product has been multiplied by alpha
    bool const heard = tool_listens();
    profiled const region_of_run([&] { push_run(w_, plan_, static_cast<int>(sizeof(T))); }, heard);
    for (int i = 0; i < plan_.steps.size(); ++i) {
      planner::planned_step const& s = plan_.steps[i];
      step_record<T>& known = record_.steps[static_cast<std::size_t>(i)];
      if (s.kind == step::contract || record_.decided[i].fused < 0) {  // else a contraction does it
        profiled const region_of_step([&] { push_step(w_, plan_, i, static_cast<int>(sizeof(T))); }, heard);
        if (s.kind == step::contract)
          contract_step(i, known, result);
        else
          move_step(i, known, result, arriving);
      }
      known.known = true;
    }
    travelling<Exec, T>& made = tensors_[planner::the_result];
    if (made.data != result.data) put(exec_, made.now(), result, arriving);
    fence(exec_);
  }

 private:
  void move_step(int i, step_record<T>& known, region<T> const& result, update<T> const& arriving) {
    planner::planned_step const& s = plan_.steps[i];
    travelling<Exec, T>& block = tensors_[s.operand];
    block.labels = &s.to;
    if (masked_already(s, block.mine, result.data, how_)) return;
    if (s.kind == step::slice || alone(w_, s)) {
      if (!known.known) {
        known.shape = block.now().part(box_of(s.to, w_.here, w_.sizes));
        known.view_at = known.shape.data - block.data;
      }
      block.data += known.view_at;
      block.shape = &known.shape;
      return;
    }
    if (planner::rewrites(s.kind) && block.writable()) return move_into(exec_, w_, s, block.now(), block.target());
    region<T> const* const room = record_.decided[i].lands ? &result : nullptr;
    if (!known.known) known.shape = room ? readable(*room) : shape_of_moved(i);
    auto next = travelling<Exec, T>::in(s.to, known.shape, room ? room->data : nullptr);
    update<T> const as = room ? share_of(arriving, w_, plan_, i) : update<T>{};
    move_into(exec_, w_, s, block.now(), next.target(), as, known.of_move(w_.group_size(s.axes)));
    block = std::move(next);
  }

  // Of a new block that a move writes: as the message that arrives if a contraction is next.
  [[nodiscard]] region<T const> shape_of_moved(int i) const {
    planner::planned_step const& s = plan_.steps[i];
    box const target = box_of(s.to, w_.here, w_.sizes);
    if (!record_.decided[i].stays_message) return dense_region<T const>(nullptr, target);
    return as_message<T const>(w_, nullptr, target, planner::loops_of_received(s, w_.sizes));
  }

  // A contraction, with the move next to it if it is fused with one.
  void contract_step(int i, step_record<T>& known, region<T> const& result) {
    planner::planned_step const& s = plan_.steps[i];
    planner::step_decision const& decided = record_.decided[i];
    if (!known.known) known.products.clear();  // of a run that has thrown
    planner::planned_step const* const move = decided.fused < 0 ? nullptr : &plan_.steps[decided.fused];
    bool const scatters = decided.fused > i;
    region<T> const* const room = decided.lands ? &result : nullptr;
    update<T> const as = s.operand != planner::the_result ? update<T>{}
                         : room                           ? share_of(how_, w_, plan_, i)
                                                          : update<T>{how_.alpha, T(0)};
    travelling<Exec, T>& left = tensors_[s.left];
    if (decided.passes_on && how_.alpha == T(1)) {
      if (!known.known) known.shape = {planner::reordered(*left.shape, *left.labels, s.to), nullptr};
      left.labels = &s.to;
      left.shape = &known.shape;
      tensors_[s.operand] = std::move(left);
      return tensors_.leave(s.left);
    }
    planner::spec const& to = scatters ? move->to : s.to;
    if (!known.known)
      known.shape = room       ? readable(*room)
                    : scatters ? dense_region<T const>(nullptr, box_of(to, w_.here, w_.sizes))
                               : shape_of_product(i);
    travelling<Exec, T>& block = tensors_[s.operand] =
        travelling<Exec, T>::in(to, known.shape, room ? room->data : nullptr);
    if (s.right == planner::no_tensor) {
      if (!known.known) known.products.push_back({loops_of({left.labels, left.shape}, {}, block)});
      reduce(exec_, known.products[0].loops, left.data, block.mine, plan_.how, as);
      return tensors_.leave(s.left);
    }
    travelling<Exec, T>& right = tensors_[s.right];
    if (scatters) {
      contract_and_scatter(exec_, w_, *move, left, right, block, as, known);
    } else if (move) {
      gather_and_contract(exec_, w_, *move,
                          gathered_product<Exec, T>{left, right, block, move->operand == s.left ? 0 : 1}, as, known);
    } else {
      if (!known.known)
        known.products.push_back({loops_of({left.labels, left.shape}, {right.labels, right.shape}, block)});
      known.products[0].multiply(exec_, left.data, right.data, block.mine, as);
    }
    tensors_.leave(s.left);
    tensors_.leave(s.right);
  }

  [[nodiscard]] contraction loops_of(planner::contracted const& left, planner::contracted const& right,
                                     travelling<Exec, T> const& result) const {
    return loops_of_labels(w_.sizes.labels, {left, right, {result.labels, result.shape}});
  }

  // Of a new block that a contraction writes: as the message that is sent next.
  [[nodiscard]] region<T const> shape_of_product(int i) const {
    planner::planned_step const& s = plan_.steps[i];
    box const target = box_of(s.to, w_.here, w_.sizes);
    if (!record_.decided[i].stays_message) return dense_region<T const>(nullptr, target);
    planner::planned_step const& next = plan_.steps[planner::next_after(plan_.steps, i, s.operand)];
    return as_message<T const>(w_, nullptr, target, planner::loops_of_sent(next, w_.sizes));
  }

  Exec const& exec_;
  execution_context const& w_;
  planner::plan_view const& plan_;
  run_record<T>& record_;
  update<T> const& how_;
  placed_run<typename Exec::memory_space> const memory_;  // of the tensors, which die first
  travelling_tensors<Exec, T> tensors_{};
};

// The record of runs that are not repeated, whose memory is.
template <class T>
run_record<T>& passing_record() {
  static thread_local constinit run_record<T>* record = nullptr;
  return per_thread(record);
}

}  // namespace detail

}  // namespace ostraka::engine
