// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The decisions that all devices share when a plan runs on given extents, made once: moves that are fused
/// with contractions, blocks in message layout, tensors that are made in the result's memory, and steps that do
/// nothing. The code that counts bytes and the code that moves them read the same value.
///
///     C[I, K] = A[I, J_X] · B[J, K]     all_gather A     fused: the contraction multiplies its own part in place
///                                       contract         fused with the gather, lands in the result

#include <cstdint>

#include <ostraka/plan/decisions/fused.hpp>
#include <ostraka/plan/decisions/message_layout.hpp>
#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

/// True if the step can write over the block that it reads.
[[nodiscard]] constexpr bool rewrites(step s) { return s == step::all_reduce || s == step::mask; }

/// True if, from step number `first` on, the tensor stays in its current block.
[[nodiscard]] constexpr bool stays_from(plan_steps const& steps, int first, int tensor) {
  for (int i = first; i < steps.size(); ++i)
    if (steps[i].operand == tensor && !rewrites(steps[i].kind)) return false;
  return true;
}

/// The decisions about one step.
struct step_decision {
  std::int8_t fused = -1;  ///< of a contraction: the move that is fused with it; of a move: the contraction that
                           ///< performs it
  std::int8_t ring = -1;   ///< of a contraction that runs as a ring: the dimension along which its parts are cut
  bool stays_message =
      false;  ///< its result is in message layout: a message that arrives, or one that a contraction writes to be sent
  bool sends_message = false;  ///< of a move: its source has been written as a message
  bool into_result = false;    ///< its result is made in the memory of the plan's result
  bool forwards_operand = false;  ///< a contraction that computes nothing, unless there is an alpha to multiply by
};

/// The decisions about all steps of a plan.
struct decisions {
  step_decision of[max_plan_steps]{};

  [[nodiscard]] constexpr step_decision const& operator[](int i) const { return of[i]; }
};

/// Decides for the steps of a plan whose last tensor is `result`.
[[nodiscard, gnu::cold]] constexpr decisions decide(list_view<spec> const& operands, plan_steps const& steps,
                                                    int result, extents const& e,
                                                    machine_constants const& machine = measured) {
  decisions d;
  spec const* now[max_tensors]{};
  for (int k = 0; k < operands.size(); ++k) now[k] = &operands[k];
  for (int i = 0; i < steps.size(); ++i) {
    planned_step const& s = steps[i];
    step_decision& here = d.of[i];
    int last = i;  // the last step that runs together with this one
    if (contracts(s.kind)) {
      ring_choice const ring = s.kind == step::ring_contraction ? ring_at(steps, i, e, machine.shortest_ring_part)
                                                                : ring_choice{};
      bool const in_a_ring = ring.verdict == ring_verdict::taken;
      contracted_messages const m = in_a_ring ? contracted_messages{} : messages_at(steps, i, e, machine);
      if (m.left) d.of[last_before(steps, i, s.left)].stays_message = true;
      if (m.right) d.of[last_before(steps, i, s.right)].stays_message = true;
      if (m.result) {
        here.stays_message = true;
        d.of[next_after(steps, i, s.operand)].sends_message = true;
      }
      here.forwards_operand = computes_nothing(s, *now[slot_of(s.left)]);
      int const move = in_a_ring ? ring.move : fused_with(steps, i, m, e, machine);
      if (in_a_ring) here.ring = static_cast<std::int8_t>(ring.dimension);
      if (move >= 0) {
        here.fused = static_cast<std::int8_t>(move);
        d.of[move].fused = static_cast<std::int8_t>(i);
        if (move > i) last = move;
      }
    }
    here.into_result = s.operand == result && stays_from(steps, last + 1, result);
    now[slot_of(s.operand)] = &s.to;
  }
  return d;
}

/// Decides for an einsum or a reduction.
template <class Plan>
[[nodiscard, gnu::cold]] constexpr decisions decide(Plan const& plan, extents const& e,
                                                    machine_constants const& machine = measured) {
  return decide(plan.operands, plan.steps, the_result, e, machine);
}

}  // namespace ostraka::planner
