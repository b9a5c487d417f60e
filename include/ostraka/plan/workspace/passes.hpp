// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan within a limit of workspace: the same steps in several passes, each over a part of the indices of
/// one label. Gathers, products and scatters are smaller by the number of passes. The same bytes move, in more
/// messages.
///
///     C[I_X, K] = A[I_X, J] · B[J_X, K]      over K     each pass gathers columns of B and writes columns of C
///                                            over J     each gathers rows of B, and adds to C
///                                            over I     not possible: each pass would gather all of B again
///     C[I_X, K] = A[I, J_X] · B[J_X, K]      over K     each scatters columns of the summands
///
/// A label that is divided in the same way in all tensors, or in none, is processed block by block, so all devices are
/// busy in all passes. For any other label, a pass takes a range of global indices. Before or after it moves, some
/// devices hold none of it.

#include <cstdint>

#include <ostraka/plan/workspace/memory_use.hpp>

namespace ostraka::planner {

/// The passes by which a plan keeps within a limit, or comes nearest to it.
struct pass_choice {
  pass first{};                ///< of `first.parts` passes; without a label if there is a single pass
  std::int64_t workspace = 0;  ///< elements
  bool fits = false;
};

namespace detail {

// True if the plan may run in passes over the label. Every step has to act on a part of the label, so that none is
// repeated. If the label is summed, the passes add to the result, which no later step may move.
constexpr bool splits_into_passes(einsum_plan const& plan, int label) {
  tensor_states tensors(plan);
  bool summed = false;
  for (planned_step const& s : plan.steps) {
    bool const kept = s.to.find(label) >= 0;
    if (summed && s.kind != step::slice) return false;
    if (!kept && contracts(s.kind)) {
      summed = tensors.of(s.left).find(label) >= 0 || (s.right != no_tensor && tensors.of(s.right).find(label) >= 0);
      if (!summed || s.operand != the_result || plan.how != reduction::sum) return false;
    } else if (!kept && s.kind != step::slice) {
      return false;
    }
    tensors.after(s);
  }
  return true;
}

// Says whether a label is divided in the same way in all tensors, and into how many blocks at most.
struct division_of_label {
  bool same_everywhere = true;
  std::int64_t blocks = 1;
};

constexpr division_of_label division_of(einsum_plan const& plan, int label, extents const& e) {
  division_of_label d;
  mesh_order first;
  bool any = false;
  auto const visit = [&](spec const& s) {
    int const i = s.find(label);
    if (i < 0) return;
    d.same_everywhere = d.same_everywhere && (!any || s.over[i] == first);
    d.blocks = std::max(d.blocks, e.ways(s.over[i]));
    first = s.over[i];
    any = true;
  };
  for (spec const& s : plan.operands) visit(s);
  for (planned_step const& s : plan.steps) visit(s.to);
  return d;
}

// The fewest passes that fit; if none fit, the largest possible number.
constexpr pass_choice fewest_passes(einsum_plan const& plan, extents e, int label, division_of_label const& d,
                                    std::int64_t limit) {
  std::int64_t const n = e.label[label];
  e.now = {label, d.same_everywhere, 0, d.same_everywhere ? (n + d.blocks - 1) / d.blocks : n};
  auto const with = [&](std::int64_t parts) {
    e.now.parts = parts;
    std::int64_t const workspace = peak_workspace(plan, e);
    return pass_choice{e.now, workspace, workspace <= limit};
  };
  pass_choice best = with(std::max<std::int64_t>(e.now.parts, 1));
  for (std::int64_t few = 1, many = best.first.parts; best.fits && few < many;) {  // more passes never need more
                                                                                   // workspace
    std::int64_t const middle = few + (many - few) / 2;
    pass_choice const now = with(middle);
    now.fits ? many = middle : few = middle + 1;
    if (now.fits) best = now;
  }
  return best;
}

// The number of consecutive messages. If the label is divided and moves, only a few devices send in a pass.
constexpr std::int64_t messages_in_a_row(pass_choice const& c, division_of_label const& d) {
  return c.first.parts * (d.same_everywhere ? 1 : d.blocks);
}

}  // namespace detail

/// The plan of a reshard as one whose only tensor is the result, so that the result of its last step is not workspace.
/// Returns other plans unchanged.
[[nodiscard]] constexpr einsum_plan result_in_place(einsum_plan plan) {
  if (!plan.computes())
    for (int i = 0; i < plan.steps.size(); ++i) plan.steps[i].operand = the_result;
  return plan;
}

/// One pass if the plan fits into `limit` elements of workspace. Otherwise as few passes as fit, over the label with
/// the fewest consecutive messages; if equal, over a label of the result rather than a summed one. If nothing fits, the
/// choice that needs the least workspace.
[[nodiscard]] constexpr pass_choice choose_passes(einsum_plan const& plan, extents const& e, std::int64_t limit) {
  pass_choice best{{}, peak_workspace(plan, e), false};
  best.fits = best.workspace <= limit;
  if (best.fits) return best;
  std::int64_t fewest_messages = 0;
  for (bool in_result : {true, false})
    for (int l = 0; l < e.labels; ++l) {
      if ((plan.result.find(l) >= 0) != in_result || !detail::splits_into_passes(plan, l)) continue;
      detail::division_of_label const d = detail::division_of(plan, l, e);
      pass_choice const c = detail::fewest_passes(plan, e, l, d, limit);
      std::int64_t const messages = detail::messages_in_a_row(c, d);
      if (c.fits ? best.fits && messages >= fewest_messages : best.fits || c.workspace >= best.workspace) continue;
      best = c;
      fewest_messages = messages;
    }
  return best;
}

}  // namespace ostraka::planner
