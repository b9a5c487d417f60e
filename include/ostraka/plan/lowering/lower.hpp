// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Lowering: from a plan to the actions of a device, for given extents. A tensor in flight is a block in a
/// buffer of the call or of the schedule, and a slice is a part of that block. A tensor that stays until the end in the
/// block to which a step writes it is written to the result's memory directly. If a step has the labels in another
/// order than the tensor that it moves, or than the result, it reads or writes that block through the strides of its
/// own order. The steps after the first one that writes to the result have to respect the old contents:
///
///     follows in place    alpha                                beta
///     nothing             all devices                          all devices
///     all-reduce          all devices                          the first one along its mesh axes; others overwrite
///     mask                the first one along its mesh axes    all devices; the mask itself then has nothing to do
///
/// `out` records the actions: `tally` counts them (tally.hpp), `schedule` keeps them (schedule.hpp).

#include <cstdint>

#include <ostraka/plan/lowering/lower_product.hpp>
#include <ostraka/plan/lowering/lower_ring.hpp>

namespace ostraka::planner {

/// True for a reshard, which only moves one tensor.
template <class Plan>
[[nodiscard]] constexpr bool only_moves(Plan const& plan) {
  for (int i = 0; i < plan.steps.size(); ++i)
    if (contracts(plan.steps[i].kind)) return false;
  return plan.operands.size() == 1;
}

/// The tensor that the plan leaves in the result; for a reshard, the tensor that its steps move.
template <class Plan>
[[nodiscard]] constexpr int result_of(Plan const& plan) {
  return !only_moves(plan) ? the_result : plan.steps.empty() ? 0 : plan.steps[0].operand;
}

namespace detail {

// A tensor in flight through a plan.
struct lowered_tensor {
  spec const* labels = nullptr;
  buffer_block now{};
  buffer_taken own{};     // its buffer, if it has one
  bool writable = false;  // the block is the whole of its buffer, or of the result's
};

template <class Plan, class Writer>
class plan_lowering {
 public:
  constexpr plan_lowering(Plan const& plan, decisions const& decided, viewpoint const& v, Writer& out,
                          machine_constants const& machine, lowering_functions<Writer> const& functions)
      : plan_(plan),
        decided_(decided),
        v_(v),
        e_(v.sizes),
        whole_(v.sizes),
        out_(out),
        functions_(functions),
        moves_(v, out, machine, functions),
        products_(v, out, moves_),
        rings_(v, out, machine),
        target_(result_spec()),
        result_(result_of(plan)) {
    whole_.now = {};
    for (int k = 0; k < plan_.operands.size(); ++k) bind_operand(k);
    if (only_moves(plan) && result_ == the_result) at(the_result) = at(0);
  }

  [[gnu::cold]] constexpr void lower() {
    buffer_block const result = block_of_call(target_, result_buffer);
    for (int i = 0; i < plan_.steps.size(); ++i) {
      planned_step const& s = plan_.steps[i];
      if (!contracts(s.kind) && decided_[i].fused >= 0) continue;  // fused with a contraction
      out_.begin_stage(i, decided_[i].fused);
      contracts(s.kind) ? contract(i, result) : move(i, result);
    }
    lowered_tensor& made = at(result_);
    if (made.now.data.buffer != result_buffer) {
      out_.begin_stage(plan_.steps.size(), -1);
      out_.copy(in_order_of(*made.labels, result), made.now, arriving());
    }
    release(made);
    for (int k = 0; k < plan_.operands.size(); ++k)
      if (copies_[k].number >= 0) out_.give_back(copies_[k]);
  }

 private:
  // The sharding that the last step leaves, with the labels in the order of the result's memory.
  [[nodiscard]] constexpr spec result_spec() const {
    spec const& left = plan_.steps.empty() ? plan_.operands[0] : plan_.steps[plan_.steps.size() - 1].to;
    return reordered(left, spec_at(plan_.result));
  }
  static constexpr spec const& spec_at(spec const& s) { return s; }
  static constexpr spec const& spec_at(spec const* s) { return *s; }
  // The result's block, with the dimensions in the order of `s`.
  [[nodiscard]] constexpr buffer_block in_order_of(spec const& s, buffer_block const& result) const {
    if (same_order(s, target_)) return result;
    return {reordered(result, target_, s), result.data};
  }
  [[nodiscard]] constexpr bool in_passes() const { return e_.now.parts > 1; }

  constexpr lowered_tensor& at(int tensor) { return tensors_[slot_of(tensor)]; }

  // A block of the call in its buffer, or this pass's part of it. In predictions it counts as a proper part, because it
  // may be all on the last device and only a part on others.
  [[nodiscard, gnu::cold]] constexpr buffer_block block_of_call(spec const& s, int buffer) const {
    box whole = box_of(s, v_.here, whole_);
    if (v_.given != nullptr) {
      buffer_block const block{v_.given[buffer], {buffer, 0}};
      return in_passes() ? block.part(intersect(block.where, box_of(s, v_.here, e_))) : block;
    }
    if (!in_passes()) return dense_block(place{buffer, 0}, whole);
    int const divided = v_.predicts ? s.find(e_.now.label) : -1;
    if (divided >= 0) ++whole.at[divided].end;
    return dense_block(place{buffer, 0}, whole).part(box_of(s, v_.here, e_));
  }

  // Begins with an operand: its block in place, or a copy, which outlives a pass.
  constexpr void bind_operand(int k) {
    lowered_tensor& t = tensors_[k];
    t.labels = &plan_.operands[k];
    t.now = block_of_call(*t.labels, k);
    if (v_.given != nullptr) return pad_with_zeros(t);
    if constexpr (requires { plan_.copied[k]; }) {
      if (!plan_.copied[k]) return;
      (in_passes() ? copies_[k] : t.own) = out_.take(largest_block(*t.labels, whole_));
    }
  }

  // Copies an operand that covers a part of its block, with zeros elsewhere.
  [[gnu::cold]] constexpr void pad_with_zeros(lowered_tensor& t) {
    box const block = box_of(*t.labels, v_.here, e_);
    if (t.now.where.size() == block.size()) {
      t.now.where = block;  // also if both are empty
      return;
    }
    buffer_block const covered = t.now;
    t.own = out_.take(block.size());
    t.now = dense_block(place{t.own.number, 0}, block);
    out_.begin_stage(-1, -1);
    out_.fill(t.now, factor::zero, reduction::sum);
    if (covered.where.size() > 0) out_.copy(t.now.part(covered.where), covered, {});
  }

  constexpr void release(lowered_tensor& t) {
    if (t.own.number >= 0) out_.give_back(t.own);
    t = {};
  }

  // How a move writes to the result: the product has already been multiplied by alpha.
  [[nodiscard]] constexpr scaling arriving() const { return {factor::one, v_.adds ? factor::given : factor::zero}; }

  // This device's scaling of the result in step number `i`, the first that writes there, if later steps rewrite the
  // result in place.
  [[nodiscard, gnu::cold]] constexpr scaling share_of(scaling how, int i) const {
    if (how.beta == factor::zero || v_.predicts) return how;
    for (; i < plan_.steps.size(); ++i) {
      planned_step const& s = plan_.steps[i];
      if (s.operand != result_ || v_.first_along(s.axes)) continue;
      if (s.kind == step::all_reduce) how.beta = factor::zero;
      if (s.kind == step::mask) how.alpha = factor::zero;
    }
    return how;
  }

  // A new block: in the result's memory, or in a buffer of its own, where it may be in message layout.
  [[gnu::cold]] constexpr lowered_tensor block_for(spec const& s, bool into_result, buffer_block const& result,
                                                   device_loops const* loops) {
    if (into_result) return {&s, in_order_of(s, result), {}, true};
    box const b = box_of(s, v_.here, e_);
    lowered_tensor t{&s, {}, {}, true};
    t.own = out_.take(b.size());
    t.now = {loops != nullptr ? as_message(b, *loops, v_.order, e_) : dense(b), {t.own.number, 0}};
    return t;
  }

  [[gnu::cold]] constexpr void move(int i, buffer_block const& result) {
    planned_step const& s = plan_.steps[i];
    lowered_tensor& t = at(s.operand);
    if (!same_order(*t.labels, s.from)) t.now = {reordered(t.now, *t.labels, s.from), t.now.data};
    t.labels = &s.to;
    if (s.kind == step::mask && s.operand == result_ && v_.adds && t.now.data.buffer == result_buffer)
      return;  // share_of has already applied the mask
    std::int64_t const ways = e_.ways(s.axes);
    if (s.kind == step::slice || ways == 1) {  // along mesh axes with one device every move is a slice, or does nothing
      t.now = t.now.part(box_of(s.to, v_.here, e_));
      t.writable = t.writable && ways == 1;
      return;
    }
    if (rewrites(s.kind) && t.writable) return moves_.move(s, decided_[i], t.now, t.now, {});
    device_loops const loops = decided_[i].stays_message ? loops_of_received(s, e_) : device_loops{};
    lowered_tensor next =
        block_for(s.to, decided_[i].into_result, result, decided_[i].stays_message ? &loops : nullptr);
    moves_.move(s, decided_[i], t.now, next.now, decided_[i].into_result ? share_of(arriving(), i) : scaling{});
    release(t);
    t = next;
  }

  [[gnu::cold]] constexpr void contract(int i, buffer_block const& result) {
    planned_step const& s = plan_.steps[i];
    step_decision const& decided = decided_[i];
    if (decided.forwards_operand && !v_.scales) return forward_operand(i, result);
    int const fused = decided.fused;
    bool const scatters = fused > i;
    scaling const whole{v_.scales ? factor::given : factor::one, v_.adds ? factor::given : factor::zero};
    scaling const how = s.operand != the_result ? scaling{}
                        : decided.into_result   ? share_of(whole, i)
                                                : scaling{whole.alpha, factor::zero};
    bool const as_message = decided.stays_message && !scatters;
    device_loops const sent =
        as_message ? loops_of_sent(plan_.steps[next_after(plan_.steps, i, s.operand)], e_) : device_loops{};
    lowered_tensor made =
        block_for(scatters ? plan_.steps[fused].to : s.to, decided.into_result, result, as_message ? &sent : nullptr);
    lowered_tensor& left = at(s.left);
    detail::block_product p{{left.labels, &no_labels, made.labels}, {left.now, {}, made.now}};
    if (s.right == no_tensor) {
      if constexpr (Writer::keeps) out_.reduce(p.loops(e_.labels), plan_.how, how);
    } else {
      p.labels[1] = at(s.right).labels;
      p.block[1] = at(s.right).now;
      int const moved = fused >= 0 && !scatters && plan_.steps[fused].operand != s.left ? 1 : 0;
      if (fused < 0)
        products_.multiply(p, how);
      else if (decided.ring >= 0)
        call_named(rings_, scatters ? functions_.ring_of_scatter : functions_.ring_of_gather, plan_.steps[fused],
                   decided.ring, p, moved, plan_.directions > 1, how);
      else
        call_named(products_, scatters ? functions_.contract_scattered : functions_.contract_gathered,
                   plan_.steps[fused], p, moved, how);
      release(at(s.right));
    }
    release(left);
    at(s.operand) = made;
  }

  // Passes the same elements on under another order of the labels. In predictions it is unknown whether there is an
  // alpha, and the more expensive case counts.
  [[gnu::cold]] constexpr void forward_operand(int i, buffer_block const& result) {
    planned_step const& s = plan_.steps[i];
    lowered_tensor moved = at(s.left);
    at(s.left) = {};
    moved.now = {reordered(moved.now, *moved.labels, s.to), moved.now.data};
    moved.labels = &s.to;
    if (v_.predicts && v_.adds) {
      buffer_taken const made = block_for(s.to, decided_[i].into_result, result, nullptr).own;
      bool const more = made.elements > moved.own.elements;
      buffer_taken const less = more ? moved.own : made;
      if (less.number >= 0) out_.give_back(less);
      if (more) moved.own = made;
    }
    at(s.operand) = moved;
  }

  Plan const& plan_;
  decisions const& decided_;
  viewpoint const& v_;
  extents const& e_;
  extents whole_;  // without the pass: the extents of blocks in memory
  Writer& out_;
  lowering_functions<Writer> const& functions_;
  move_lowering<Writer> moves_;
  product_lowering<Writer> products_;
  ring_lowering<Writer> rings_;
  spec target_;  // the sharding of the result's block
  int result_;
  lowered_tensor tensors_[max_tensors]{};
  buffer_taken copies_[max_operands]{};
};

template <unsigned Kinds, class Writer>
[[nodiscard]] consteval lowering_functions<Writer> make_lowering_functions() {
  lowering_functions<Writer> f;
  move_lowering<Writer>::template name_functions<Kinds>(f);
  product_lowering<Writer>::template name_functions<Kinds>(f);
  ring_lowering<Writer>::template name_functions<Kinds>(f);
  return f;
}

}  // namespace detail

/// The lowering functions of these kinds.
template <unsigned Kinds, class Writer>
inline constexpr lowering_functions<Writer> lowering_functions_of = detail::make_lowering_functions<Kinds, Writer>();

/// Lowers an einsum, a reduction or a reshard for one device: `out` records its actions. A process that is not a device
/// of the mesh does nothing.
/// @pre the functions are those of the plan's kinds, or more
template <class Plan, class Writer>
[[gnu::cold]] constexpr void lower(
    Plan const& plan, decisions const& decided, viewpoint const& v, Writer& out,
    machine_constants const& machine = measured,
    lowering_functions<Writer> const& functions = lowering_functions_of<kinds::lowered, Writer>) {
  if (v.here.nowhere) return;
  detail::plan_lowering<Plan, Writer>(plan, decided, v, out, machine, functions).lower();
}

}  // namespace ostraka::planner
