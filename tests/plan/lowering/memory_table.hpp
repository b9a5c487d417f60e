// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. How much memory a plan takes beyond operands and result, and how much it copies, by a table of
/// steps instead of by lowering: what each kind of step makes, packs and puts in place.
///
///     step             new block    packed before     put in place after
///     slice, mask      none         none              none                   a view; in place on a block of its own
///     zero_pad         |to|         none              none
///     all_gather       |to|         none              |to| (a)
///     all_reduce       |to|         |to| / n + pieces                        in place on the new block, part by part
///     reduce_scatter   |to|         |from| (b) + pieces                      others' parts are added up in pieces
///     exchanges        |to|         c |from| (c)      |to| (c)               to all c devices of the same block (d)
///     contract         |to|         none              none
///       + all_gather     |to|       |gather's from| (e)                    and the others' parts (f)
///       + reduce_scatter |scatter's to|                                    and the others' parts + pieces (g)
///
///     (a) none if it stays a message (plan/decisions/message_layout.hpp), or the parts of one mesh axis follow one
///         another in the new block
///     (b) none if a contraction has written it as a message, or the parts of one mesh axis follow one another in the
///         old block
///     (c) none if it is a message, or each part lies in one run
///     (d) but not the part that a device keeps
///     (e) none if it lies dense; fused with a contraction: plan/decisions/fused.hpp
///     (f) |gather's to| - |gather's from|
///     (g) none of two devices: the sum of the others' parts is one part, which is received where it belongs

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/decisions/decide.hpp>
#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/workspace/memory_use.hpp>

namespace ostraka::testing {

using namespace ostraka::planner;

namespace table {

// Elements that arrive at a device from the others of its group: a piece from each while it adds up those before.
constexpr std::int64_t arriving(std::int64_t part, std::int64_t devices) {
  return devices > 1 ? 2 * (devices - 1) * std::min(part, measured.piece_of_reduction(devices - 1)) : 0;
}

// The elements that a step copies.
struct step_copies {
  std::int64_t packed = 0;    // into a buffer before it is sent
  std::int64_t unpacked = 0;  // out of a buffer, after it has arrived
  std::int64_t directly = 0;  // from block to block
};

// True if the block that a step reads is dense, and if the incoming elements may be received in place.
struct step_blocks {
  bool dense_source = true;
  bool open_target = true;
};

constexpr step_copies copies_of(planned_step const& s, step_decision const& decided, step_blocks const& b,
                                extents const& e) {
  std::int64_t const from = largest_block(s.from, e);
  std::int64_t const to = largest_block(s.to, e);
  std::int64_t const ways = e.ways(s.axes);
  step_copies c;
  switch (s.kind) {
    case step::zero_pad: c.directly = from; break;
    case step::mask:
    case step::all_reduce: c.directly = to; break;
    case step::all_gather:
      if (!decided.stays_message && !(b.open_target && planner::detail::in_order(s.to, s.from, s.axes, e)))
        c.unpacked = to;
      if (!b.dense_source) c.directly = from;
      break;
    case step::reduce_scatter:
      if (!decided.sends_message && !(b.dense_source && planner::detail::in_order(s.from, s.to, s.axes, e)))
        c.packed = std::min(from, ways * to);
      break;
    case step::all_to_all:
    case step::block_exchange: {
      bool const sent_equal = !loops_of_sent(s, e).empty();
      bool const received_equal = !loops_of_received(s, e).empty();
      c.directly = std::min(sent_equal ? from / ways : from, received_equal ? to / ways : to);
      if (!decided.sends_message && !(b.dense_source && planner::detail::in_runs(s.from, s.to, e)))
        c.packed = sent_equal ? from - from / ways : e.ways((s.axes & s.from.uses()) - s.to.uses()) * from;
      if (!decided.stays_message && !(b.open_target && planner::detail::in_runs(s.to, s.from, e)))
        c.unpacked = received_equal ? to - to / ways : to;
      break;
    }
    default: break;
  }
  return c;
}

// Elements in buffers during a step. A reduction that is written to a block with gaps is taken in a buffer.
constexpr std::int64_t staging(planned_step const& s, step_copies const& copies, bool to_gaps, extents const& e) {
  std::int64_t const n = e.ways(s.axes);
  std::int64_t const to = largest_block(s.to, e);
  if (s.kind == step::all_reduce) return (to + n - 1) / n + arriving((to + n - 1) / n, n) + (to_gaps ? to : 0);
  if (s.kind == step::reduce_scatter) return copies.packed + arriving(to, n) + (to_gaps ? to : 0);
  return copies.packed + copies.unpacked;
}

// A tensor in flight through a plan.
struct tensor_memory {
  std::int64_t own = 0;   // elements of its own block
  bool gaps = false;      // it has gaps: a slice, or a pass's part of a block
  bool writable = false;  // it is a block of its own, or the result's
  bool placed = false;    // it is the result's
};

// The memory that a contraction allocates for the move that it also does, beside the results of both.
struct fused_memory {
  std::int64_t held = 0;
  std::int64_t copied = 0;
};

constexpr fused_memory memory_of_fused(planned_step const& move, bool dense_source, bool overwrites, bool to_gaps,
                                         extents const& e) {
  std::int64_t const others = e.ways(move.axes) - 1;
  if (move.kind == step::all_gather) {
    std::int64_t const part = largest_block(move.from, e);
    std::int64_t const packed = dense_source ? 0 : part;
    return {others * part + packed, packed};
  }
  std::int64_t const part = largest_block(move.to, e);
  std::int64_t const in_a_buffer = to_gaps ? part : 0;
  return {others * part + in_a_buffer + (others == 1 && overwrites ? 0 : arriving(part, others + 1)), in_a_buffer};
}

}  // namespace table

/// The memory of a plan; if the extents are those of one of several passes, in the largest of them. A tensor in flight
/// lives until it is contracted, and one that stays in the result's place is written there. Exact if the labels'
/// extents are multiples of their parts.
[[nodiscard]] inline memory_use memory_by_table(einsum_plan const& plan, extents const& e) {
  table::tensor_memory tensors[max_tensors]{};
  bool const in_passes = e.now.parts > 1;
  extents whole = e;
  whole.now = {};
  std::int64_t copies = 0;  // of operands, which outlive a pass
  for (int k = 0; k < plan.operands.size(); ++k) {
    tensors[k].gaps = in_passes && plan.operands[k].find(e.now.label) > 0;  // the part of a first dimension has none
    if (plan.copied[k]) (in_passes ? copies : tensors[k].own) += largest_block(plan.operands[k], whole);
  }
  if (plan.count(step::contract) == 0 && plan.operands.size() == 1)
    tensors[slot_of(the_result)].gaps = tensors[0].gaps;  // a reshard
  bool const result_has_gaps = in_passes && plan.result.find(e.now.label) > 0;
  decisions const decided = decide(plan, e);
  memory_use use;
  for (int i = 0; i < plan.steps.size(); ++i) {
    planned_step const& s = plan.steps[i];
    table::tensor_memory& now = tensors[slot_of(s.operand)];
    if (s.kind == step::slice || (s.kind != step::contract && e.ways(s.axes) == 1)) {
      if (e.ways(s.axes) > 1) now.gaps = true, now.writable = now.placed = false;
      continue;
    }
    int const fused = decided[i].fused;
    if (s.kind != step::contract && fused >= 0) continue;  // done by a contraction, before or after
    spec const& to = fused > i ? plan.steps[fused].to : s.to;
    bool const into_result = decided[i].into_result;
    bool const in_place = rewrites(s.kind) && now.writable;
    bool const to_gaps = in_place ? now.gaps : into_result && result_has_gaps;
    std::int64_t const fresh = into_result || in_place ? 0 : largest_block(to, e);
    // A result written in place may have to be added.
    table::step_copies c = table::copies_of(s, decided[i], {!now.gaps, !into_result}, e);
    std::int64_t held = copies + fresh + table::staging(s, c, to_gaps, e);
    if (fused >= 0) {
      bool const dense = !tensors[slot_of(plan.steps[fused].operand)].gaps;
      table::fused_memory const more =
          table::memory_of_fused(plan.steps[fused], dense, !into_result || to_gaps, to_gaps, e);
      held += more.held;
      use.copied += more.copied;
    }
    for (table::tensor_memory const& t : tensors) held += t.own;
    use.peak = std::max(use.peak, held);
    if (into_result) c = table::copies_of(s, decided[i], {!now.gaps, !to_gaps}, e);
    use.copied += c.packed + c.unpacked + (in_place ? 0 : c.directly);
    if (to_gaps && s.kind == step::all_reduce) use.copied += 2 * largest_block(s.to, e);
    if (to_gaps && s.kind == step::reduce_scatter) use.copied += largest_block(s.to, e);
    if (decided[i].forwards_operand) {  // unless it is to be multiplied by a factor
      now = tensors[slot_of(s.left)];
      now.own = std::max(now.own, fresh);
      for (int k = 0; k < s.to.rank; ++k) now.gaps = now.gaps || s.to.label[k] != s.from.label[k];
    }
    if (!decided[i].forwards_operand && !in_place) now = {fresh, to_gaps, true, into_result};
    if (s.kind == step::contract)
      for (int tensor : {s.left, s.right})
        if (tensor != no_tensor) tensors[slot_of(tensor)] = {};
  }
  if (!tensors[slot_of(the_result)].placed) use.copied += largest_block(plan.result, e);
  return use;
}

}  // namespace ostraka::testing
