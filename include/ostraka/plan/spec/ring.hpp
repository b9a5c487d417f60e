// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Contractions that overlap the move next to them (os::overlapped): the gather before, or the reduce-scatter
/// after, runs as a ring. In n − 1 steps each device passes a part on to its neighbour while it multiplies the part
/// that it has. No device ever holds the gathered tensor or all the summands.
///
///     all_gather B[J_X, K]          C[I_X, K] += A[I_X, J_d] B[J_d, K]      for d = me, me − 1, …: B's parts circulate
///     reduce_scatter C[I_X, K]      C[I_d, K] += A[I_d, J_X] B[J_X, K]      for d = me − 1, …, me: sums circulate
///
/// This file decides which contractions can run as rings, and at which extents that is worth it. All devices make the
/// same decision.

#include <cstdint>
#include <string_view>

#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// The least number of elements that a device passes on in a step: messages of shorter parts cost more than they hide.
inline constexpr std::int64_t shortest_ring_part = 131072;
/// The least number of elements of a piece, if a part circulates in pieces.
inline constexpr std::int64_t shortest_ring_piece = 8192;
/// The most devices of a ring. Its schedule lists every step, so with more devices it would be long, and each step
/// would hide little.
inline constexpr std::int64_t most_ring_devices = 64;

/// Says that a contraction runs as a ring, or why it does not.
enum class ring_verdict : std::uint8_t { taken, no_move, no_sum, several_labels, pinned, many_devices, short_parts };

[[nodiscard]] constexpr std::string_view name_of(ring_verdict v) {
  switch (v) {
    case ring_verdict::taken: return "";
    case ring_verdict::no_move: return "no gather before it and no reduce-scatter after it";
    case ring_verdict::no_sum: return "what is scattered is no sum";
    case ring_verdict::several_labels: return "the move divides several labels";
    case ring_verdict::pinned: return "all devices are to add up in one order";
    case ring_verdict::many_devices: return "more than 64 devices";
    case ring_verdict::short_parts: return "parts of less than 131,072 elements";
  }
  return "";
}

/// The move with which a contraction runs as a ring, and the verdict on it.
struct ring_choice {
  ring_verdict verdict = ring_verdict::no_move;
  int move = -1;       ///< the number of the move's step
  int dimension = -1;  ///< the dimension of the moved tensor along which the ring's devices have their parts
};

namespace detail {

// The only dimension along which `parts` is divided further than `whole`, by exactly `axes`; -1 if there is none.
constexpr int divided_further(spec const& whole, spec const& parts, mesh_set axes) {
  int found = -1;
  for (int i = 0; i < whole.rank; ++i) {
    if (whole.over[i] == parts.over[i]) continue;
    if (found >= 0 || !parts.over[i].starts_with(whole.over[i])) return -1;
    if (parts.over[i].after(whole.over[i].size()).axes().bits != axes.bits) return -1;
    found = i;
  }
  return found;
}

[[gnu::cold]] constexpr ring_choice ring_with(planned_step const& move, int number, planned_step const& product,
                                              extents const& e, std::int64_t shortest) {
  bool const gathers = move.kind == step::all_gather;
  spec const& parts = gathers ? move.from : move.to;
  ring_choice r{ring_verdict::taken, number, divided_further(gathers ? move.to : move.from, parts, move.axes)};
  if (r.dimension < 0)
    r.verdict = ring_verdict::several_labels;
  else if (!gathers && move.from.kind != reduction::sum)
    r.verdict = ring_verdict::no_sum;
  else if (gathers && product.to.find(parts.label[r.dimension]) < 0 && !(move.axes - product.to.uses()).empty())
    r.verdict = ring_verdict::pinned;
  else if (e.ways(move.axes) > most_ring_devices)
    r.verdict = ring_verdict::many_devices;
  else if (largest_block(parts, e) < shortest)
    r.verdict = ring_verdict::short_parts;
  return r;
}

}  // namespace detail

/// The move next to the contraction at step `at` with which it can run as a ring; if there are several, the largest. If
/// there is none, the verdict says why.
[[nodiscard, gnu::cold]] constexpr ring_choice ring_at(plan_steps const& steps, int at, extents const& e,
                                                       std::int64_t shortest = shortest_ring_part) {
  planned_step const& s = steps[at];
  ring_choice best;
  if (s.right == no_tensor) return best;
  int const moves[] = {last_before(steps, at, s.left), last_before(steps, at, s.right),
                       next_after(steps, at, s.operand)};
  std::int64_t most = 0;
  for (int k = 0; k < 3; ++k) {
    if (moves[k] < 0 || moves[k] >= steps.size()) continue;
    planned_step const& move = steps[moves[k]];
    if (move.kind != (k < 2 ? step::all_gather : step::reduce_scatter) || e.ways(move.axes) == 1) continue;
    ring_choice const r = detail::ring_with(move, moves[k], s, e, shortest);
    std::int64_t const moved = elements_moved(move, e);
    bool const taken = r.verdict == ring_verdict::taken;
    if (best.verdict == ring_verdict::taken ? !taken || moved <= most : !taken && best.move >= 0 && moved <= most)
      continue;
    best = r;
    most = moved;
  }
  return best;
}

/// Marks the contractions of a plan that can run as rings, if its policy is os::overlapped. Extents decide at run time
/// whether a ring is worth it.
template <class Plan>
constexpr void name_rings(Plan& plan) {
  for (int i = 0; plan.directions > 0 && i < plan.steps.size(); ++i)
    if (contracts(plan.steps[i].kind)) {
      ring_verdict const v = ring_at(plan.steps, i, plan.sizes).verdict;
      bool const can = v == ring_verdict::taken || v == ring_verdict::short_parts || v == ring_verdict::many_devices;
      plan.steps[i].kind = can ? step::ring_contraction : step::contract;
    }
}

}  // namespace ostraka::planner
