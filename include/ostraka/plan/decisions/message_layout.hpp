// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Blocks in message layout: stored in memory in the order in which they are received or sent. If all parts
/// are equal, a message of n parts is one block with one more loop, over devices: A[I, J] gathered from A[I, J_X] is
/// (X, I, J/X), and a contraction reads it in place. So a tensor that is gathered for a contraction is never unpacked,
/// and a contraction writes a tensor that is scattered next in the order in which it is sent.
///
///     step                        part of each device    in message layout
///     all_gather                  |from|                 if a contraction is next
///     reduce_scatter              |to|                   if a contraction was before
///     all_to_all, block_exchange  their common part      sent: if a contraction was before; arriving: if one is next

#include <cstdint>

#include <ostraka/plan/blocks/contraction_loops.hpp>
#include <ostraka/plan/blocks/strided_box.hpp>
#include <ostraka/plan/decisions/machine_constants.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// The loops over the devices of `axes` in a message that holds a block under `whole` as their equal parts under
/// `parts`; the loops of a dimension are in order, outermost first. There are none if the parts are not equal
/// everywhere, or do not add up to the block.
[[nodiscard, gnu::cold]] constexpr device_loops loops_of_message(spec const& whole, spec const& parts, mesh_set axes,
                                                                 extents const& e) {
  device_loops loops;
  mesh_set unseen = axes;
  for (int i = 0; i < whole.rank; ++i) {
    int const common = common_prefix(whole.over[i], parts.over[i]);
    if (common == parts.over[i].size()) continue;  // each part has all indices of the block
    std::int64_t const n = e.label[whole.label[i]];
    bool const in_passes = whole.label[i] == e.now.label;  // some devices have no part in this pass
    if (common < whole.over[i].size() || in_passes || n == 0 || n % e.ways(parts.over[i]) != 0) return {};
    std::int64_t unit = n / e.ways(whole.over[i]);
    for (int k = common; k < parts.over[i].size(); ++k) {
      int const m = parts.over[i][k];
      unit /= e.mesh[m];
      if (!unseen.contains(m)) return {};
      unseen = unseen - mesh_set::of(m);
      if (e.mesh[m] > 1) loops.push_back({i, m, unit});
    }
  }
  return unseen.empty() ? loops : device_loops{};
}

/// The loops of the message that a step sends, and of the one that arrives. An exchange in which a mesh axis repeats
/// its source leaves parts out.
[[nodiscard, gnu::cold]] constexpr device_loops loops_of_sent(planned_step const& s, extents const& e) {
  bool const exchanges =
      (s.kind == step::all_to_all || s.kind == step::block_exchange) && (s.axes - s.from.uses()).empty();
  return exchanges || s.kind == step::reduce_scatter ? loops_of_message(s.from, s.to, s.axes, e) : device_loops{};
}
[[nodiscard, gnu::cold]] constexpr device_loops loops_of_received(planned_step const& s, extents const& e) {
  bool const exchanges =
      (s.kind == step::all_to_all || s.kind == step::block_exchange) && (s.axes - s.from.uses()).empty();
  return exchanges || s.kind == step::all_gather ? loops_of_message(s.to, s.from, s.axes, e) : device_loops{};
}

/// The tensors of a contraction that are in message layout.
struct contracted_messages {
  bool left = false;
  bool right = false;
  bool result = false;
};

namespace detail {

constexpr std::int64_t largest_extent(spec const& s, int i, extents const& e) {
  return largest_size(e.label[s.label[i]], e.ways(s.over[i]));
}

// True if the parts of a dense block are consecutive and fill it. With several mesh axes, only the running mesh knows
// their order.
[[gnu::cold]] constexpr bool in_order(spec const& whole, spec const& parts, mesh_set axes, extents const& e) {
  int divided = -1;
  for (int i = 0; i < whole.rank; ++i) {
    if (e.ways(parts.over[i]) == e.ways(whole.over[i])) continue;
    if (divided >= 0 || !parts.over[i].starts_with(whole.over[i]) ||
        e.ways(parts.over[i]) != e.ways(whole.over[i]) * e.ways(axes))
      return false;
    divided = i;
  }
  if (divided < 0 || !in_runs(whole, parts, e)) return false;
  for (int m = 0; m < e.mesh_axes; ++m)
    if (axes.contains(m) && e.mesh[m] == e.ways(axes)) return parts.over[divided].axes().contains(m);
  return false;
}

/// A tensor of a contraction: a factor, or the result.
enum class part_of_product { factor, result };

// The number of elements that a product of a tensor cut along dimension `i` reads again for each part: the elements
// without the label. Labels of a batch are not counted, because they cannot be distinguished here from labels of one
// factor alone.
[[gnu::cold]] constexpr std::int64_t elements_reread(spec const& s, part_of_product which, int i,
                                                     planned_step const& product, extents const& e) {
  int const cut = s.label[i];
  if (product.to.find(cut) < 0) return largest_block(product.to, e);
  bool const is_result = which == part_of_product::result;
  if (is_result && product.from.find(cut) < 0) return largest_block(product.from, e);
  spec const& divided = is_result ? product.from : s;  // the factor that has the label
  std::int64_t n = 1;
  for (int k = 0; k < product.to.rank; ++k)
    if (divided.find(product.to.label[k]) < 0) n *= largest_extent(product.to, k, e);
  for (int k = 0; k < divided.rank; ++k)
    if (product.to.find(divided.label[k]) < 0) n *= largest_extent(divided, k, e);
  return n;
}

// True if the parts are so long that one matrix product for each of them is as fast as one for all. Shorter parts are
// cheaper in one block. So is a tensor that is small compared with the elements that would be read again for each part.
[[gnu::cold]] constexpr bool is_worth_cutting(spec const& s, part_of_product which, device_loops const& loops,
                                              planned_step const& product, extents const& e,
                                              machine_constants const& machine) {
  for (device_loop const& d : loops) {
    bool const summed = product.to.find(s.label[d.dimension]) < 0;
    if (d.unit < (summed ? machine.shortest_summed_part : machine.shortest_part)) return false;
    if (elements_reread(s, which, d.dimension, product, e) > machine.reread_limit * largest_block(s, e)) return false;
  }
  return !loops.empty();
}

// The loops of a contraction besides its labels. Each loop cuts a label at multiples of a unit. If a label has two
// units, one divides the other.
class cuts_of_labels {
 public:
  constexpr explicit cuts_of_labels(int labels) : loops_(labels) {}

  /// Adds a message's loops if they fit; returns whether they do.
  constexpr bool add(spec const& s, device_loops const& loops) {
    if (loops.empty()) return false;
    int more = 0;
    for (device_loop const& d : loops) {
      bool known = false;
      for (int c = 0; c < count_; ++c) {
        if (label_[c] != s.label[d.dimension]) continue;
        if (unit_[c] % d.unit != 0 && d.unit % unit_[c] != 0) return false;
        known = known || unit_[c] == d.unit;
      }
      more += known ? 0 : 1;
    }
    if (loops_ + more > max_loops) return false;
    for (device_loop const& d : loops) {
      label_[count_] = s.label[d.dimension];
      unit_[count_++] = d.unit;
    }
    loops_ += more;
    return true;
  }

 private:
  int loops_ = 0;
  int count_ = 0;
  int label_[3 * max_mesh_axes]{};
  std::int64_t unit_[3 * max_mesh_axes]{};
};

}  // namespace detail

/// True for a contraction of one tensor that sums nothing: the same elements, possibly under another order of the
/// labels.
[[nodiscard]] constexpr bool computes_nothing(planned_step const& s, spec const& from) {
  if (s.right != no_tensor || s.to.rank != from.rank) return false;
  for (int i = 0; i < from.rank; ++i) {
    int const at = s.to.find(from.label[i]);
    if (at < 0 || s.to.over[at].code != from.over[i].code) return false;
  }
  return true;
}

/// The tensors of the contraction at step `at` in message layout: all that are worth it and whose loops fit together,
/// in this order. The result of a contraction of a single tensor never is, because it may be that tensor.
[[nodiscard, gnu::cold]] constexpr contracted_messages messages_at(plan_steps const& steps, int at, extents const& e,
                                                                   machine_constants const& machine = measured) {
  planned_step const& s = steps[at];
  contracted_messages m;
  detail::cuts_of_labels cuts(e.labels);
  auto const arrives = [&](int tensor) {
    int const i = tensor == no_tensor ? -1 : last_before(steps, at, tensor);
    if (i < 0 || detail::in_order(steps[i].to, steps[i].from, steps[i].axes, e))
      return false;  // in that case it is received in order
    device_loops const loops = loops_of_received(steps[i], e);
    return detail::is_worth_cutting(steps[i].to, detail::part_of_product::factor, loops, s, e, machine) &&
           cuts.add(steps[i].to, loops);
  };
  int const next = next_after(steps, at, s.operand);
  int const moved = last_before(steps, at, s.left);
  if (next < steps.size() && moved >= 0 && computes_nothing(s, steps[moved].to))
    return m;  // the tensor itself moves on
  m.left = arrives(s.left);
  m.right = arrives(s.right);
  if (s.right == no_tensor || next == steps.size() || steps[next].operand != s.operand ||
      contracts(steps[next].kind))
    return m;
  device_loops const sent = loops_of_sent(steps[next], e);
  m.result = !detail::in_order(s.to, steps[next].to, steps[next].axes, e) &&
             detail::is_worth_cutting(s.to, detail::part_of_product::result, sent, s, e, machine) &&
             cuts.add(s.to, sent);
  return m;
}

}  // namespace ostraka::planner
