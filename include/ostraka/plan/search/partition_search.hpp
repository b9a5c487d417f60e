// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The cheapest partition of the work of each product, for one order of products: a label or none along each
/// mesh axis, all products and all mesh axes chosen jointly. From the leaves of the tree to its root, every product
/// keeps the least price of each sharding that it can have (Bellman's principle), and of each sharding that a later
/// product needs: the minimum of price + moves over the shardings that it can have.

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/candidates.hpp>
#include <ostraka/plan/search/contraction_order.hpp>
#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/search/layout.hpp>
#include <ostraka/plan/search/tensor_prices.hpp>
#include <ostraka/plan/search/work_partition.hpp>

namespace ostraka::planner::detail {

// With less effort, the search still tries every partition of a product if there are at most this many (and at most
// three mesh axes).
inline constexpr double most_choices = 256;

// The partition of every product of an order, and its cost.
struct partitioned_order {
  contraction_order order{};
  layout partition[max_operands]{};
  double price = unbounded;
  double volume = unbounded;
};

class partition_search {
 public:
  [[gnu::cold]] constexpr partition_search(einsum_problem const& problem, label_sets const& labels,
                                           search_effort effort)
      : problem_(problem), labels_(labels), e_(problem.sizes), effort_(effort), prices_(problem) {
    for (int m = 0; m < e_.mesh_axes; ++m) devices_ *= static_cast<double>(e_.mesh[m]);
    for (int k = 0; k < labels.operands; ++k) {
      layout const q = layout_of(problem.operands[k]);
      tensor_[k].labels = labels.of[k];
      tensor_[k].whole = labels.elements(labels.of[k]);
      prices_.add_operand(q, tensor_[k]);
      tensor_[k].reach.sort();
    }
  }

  // The best partition of every product of an order, if its price is no more than `limit`, which never rises from one
  // run to the next. `likely` limits the search to the partitions that it would try with less effort.
  [[gnu::cold]] constexpr partitioned_order run(contraction_order const& order, double limit, bool likely) {
    limit_ = limit;
    prices_.set_limit(limit);
    likely_ = likely;
    partitioned_order best;
    best.order = order;
    std::uint32_t among[2 * max_operands]{};
    for (int k = 0; k < labels_.operands; ++k) among[k] = std::uint32_t{1} << k;
    for (int p = 0; p < order.products; ++p) {
      int const made = labels_.operands + p;
      among[made] = among[order.left[p]] | (order.right[p] < 0 ? 0 : among[order.right[p]]);
      last_ = p + 1 == order.products;
      tensor_[made].labels = last_ ? labels_.result : labels_.product_of(among[made]);
      tensor_[made].whole = labels_.elements(tensor_[made].labels);
      multiply(order.left[p], order.right[p], made);
      if (tensor_[made].reach.count == 0) return best;
    }
    candidate const c = prices_.finish(tensor_[labels_.operands + order.products - 1]);
    if (c.price > limit_) return best;
    best.price = c.price;
    best.volume = c.volume;
    // Goes back from the root: the shardings that a product needed determine how its factors were partitioned.
    best.partition[order.products - 1] = c.partition;
    for (int p = order.products - 1; p >= 0; --p)
      for (int side = 0; side < 2; ++side) {
        int const factor = side == 0 ? order.left[p] : order.right[p];
        if (factor < labels_.operands) continue;
        best.partition[factor - labels_.operands] =
            prices_.ask(tensor_[factor], asked_of_factor(best.partition[p], tensor_[factor].labels, side)).partition;
      }
    return best;
  }

 private:
  // Records the labels that each mesh axis divides in the operands and in the result, and the mesh axes before which it
  // comes there.
  [[gnu::cold]] constexpr void find_likely() {
    if (knows_likely_) return;
    knows_likely_ = true;
    for (int k = 0; k < labels_.operands; ++k) add_likely(layout_of(problem_.operands[k]));
    add_likely(layout_of(problem_.result));
  }

  [[gnu::cold]] constexpr void add_likely(layout q) {
    for (int m = 0; m < e_.mesh_axes; ++m) {
      axis_state const s = state_of(q, m);
      if (!s.is_replicated()) used_ |= std::uint32_t{1} << m;
      if (!s.is_split()) continue;
      likely_labels_[m] |= label_set{1} << s.label();
      for (int k = 0; k < e_.mesh_axes; ++k)
        if (label_along(q, k) == s.label() && place_along(q, k) > s.place()) must_precede_[m] |= std::uint32_t{1} << k;
    }
  }

  // Fills the candidates of a product.
  [[gnu::cold]] constexpr void multiply(int left, int right, int made) {
    left_ = left;
    right_ = right;
    sequence_ = 0;
    given_.clear();
    tensor_candidates& t = tensor_[made];
    t.reach.clear();
    t.asked.clear();
    labels_in_[0] = tensor_[left].labels;
    labels_in_[1] = right < 0 ? 0 : tensor_[right].labels;
    labels_in_[2] = t.labels;
    factors_ = labels_in_[0] | labels_in_[1];
    double choices = 1;
    for (int m = 0; m < e_.mesh_axes; ++m) choices *= size_of(factors_) + 1;
    likely_here_ =
        likely_ || (!effort_.all_partitions && (choices > most_choices || e_.mesh_axes > most_mesh_axes_sliced));
    if (likely_here_) find_likely();
    full_work_ = labels_.elements(factors_) * devices_;
    priced_axes_ = 0;
    for (int m = 0; m < e_.mesh_axes; ++m)
      if ((labels_.priced[m] & factors_) != 0) priced_axes_ |= std::uint32_t{1} << m;
    for (int side = 0; side < 2; ++side) {
      layout partial = 0;
      if (side == 0 || right >= 0) {
        candidates const& reach = tensor_[side == 0 ? left : right].reach;
        for (int i = 0; i < reach.count; ++i) partial |= partial_marks(reach.item[i].at);
      }
      may_keep_[side] = marked_axes(partial);
    }
    divide({0, {0, 0}, 0, 1, 1}, 0);
    if (given_.count > effort_.beam) {
      given_.sort();
      given_.count = effort_.beam;
    }
    if (last_) prices_.bound_result(given_, t.whole);
    for (int i = 0; i < given_.count; ++i)
      if (last_)
        prices_.add_result(given_.item[i], t);
      else
        prices_.add_product(given_.item[i], t);
    t.reach.sort();
  }

  // A partition under construction, with the shardings that it needs and produces.
  struct unfinished_partition {
    layout d;
    layout asked[2];
    layout given;
    double ways;
    double priced_ways;
  };

  // Decides for mesh axis m and the ones after it: no label, a factor that stays partial, then labels by number, each
  // at every place among the mesh axes that divide it.
  [[gnu::cold]] constexpr void divide(unfinished_partition const& before, int m) {
    extents const& e = e_;
    if (m >= e.mesh_axes || m >= max_mesh_axes) return consider(before);
    divide(before, m + 1);
    double const size = static_cast<double>(e.mesh[m]);
    double const priced_size = (priced_axes_ >> m & 1) != 0 ? size : 1;
    label_set const in_left = labels_in_[0];
    label_set const in_right = labels_in_[1];
    label_set const in_result = labels_in_[2];
    bool const likely = likely_here_;
    layout const partial = layout_along(m, axis_state::partial());
    for (int side = 0; side < 2; ++side)
      if (may_keep_[side].contains(m)) {
        unfinished_partition now = before;
        now.d |= layout_along(m, axis_state::keep_partial(side));
        now.asked[side] |= partial;
        now.given |= partial;
        divide(now, m + 1);
      }
    label_set const tried = !likely || (used_ >> m & 1) == 0 ? factors_ : factors_ & likely_labels_[m];
    for (int l = 0; tried >> l != 0; ++l) {
      if ((tried >> l & 1) == 0) continue;
      int const there = splits_of(before.d, l);
      for (int place = 0; place <= there; ++place) {
        if (likely && place < there && (must_precede_[m] >> order_on(before.d, l, e_)[place] & 1) == 0) continue;
        layout const more =
            place < there ? inserted(before.d, l, place, m) : layout_along(m, axis_state::split(l, place));
        unfinished_partition now = before;
        now.d += more;
        if ((in_left >> l & 1) != 0) now.asked[0] += more;
        if ((in_right >> l & 1) != 0) now.asked[1] += more;
        now.given += (in_result >> l & 1) != 0 ? more : partial;
        now.ways *= size;
        now.priced_ways *= priced_size;
        divide(now, m + 1);
      }
    }
  }

  constexpr void consider(unfinished_partition const& p) {
    candidate c{p.given, p.d, full_work_ / p.priced_ways, 0, full_work_ / p.ways, 0, ++sequence_, false};
    for (int side = 0; side < (right_ < 0 ? 1 : 2); ++side) {
      candidate const& f = prices_.ask(tensor_[side == 0 ? left_ : right_], p.asked[side]);
      c.price += f.price;
      if (c.price > limit_) return;
      c.volume += f.volume;
      c.work += f.work;
      c.moved_tensors += f.moved_tensors;
    }
    if (problem_.rule != admit::any && problem_.rule != admit::no_communication && !admitted(p.d)) return;
    given_.offer(c);
  }

  // True if the policy admits the partition; policies restrict plans of one or two operands.
  [[nodiscard, gnu::cold]] constexpr bool admitted(layout d) const {
    if (labels_.operands > 2) return false;
    bool gathers[3]{};  // left, right, result: all-gathers and no other moves
    bool still[3]{true, true, true};
    for (int k = 0; k <= labels_.operands; ++k) {
      bool const result = k == labels_.operands;
      int const place = result ? 2 : k;
      spec const from =
          result ? spec_under(problem_.result, given_by_product(d, labels_.result)) : problem_.operands[k];
      spec const to = result ? problem_.result : spec_under(problem_.operands[k], asked_of_factor(d, labels_.of[k], k));
      bool others = false;
      for (planned_step const& s : plan_reshard(from, to, e_, k, result ? slicing::of_target : slicing::before)) {
        if (!communicates(s.kind)) continue;
        still[place] = false;
        if (s.kind == step::all_gather) gathers[place] = true;
        else others = true;
      }
      gathers[place] = gathers[place] && !others;
    }
    switch (problem_.rule) {
      case admit::gather_left: return gathers[0] && still[1] && still[2];
      case admit::gather_right: return still[0] && gathers[1] && still[2];
      case admit::reduce_result: return still[0] && still[1] && !still[2];
      default: return still[0] && still[1] && still[2];
    }
  }

  einsum_problem const& problem_;
  label_sets const& labels_;
  extents const& e_;
  search_effort effort_;
  tensor_prices prices_;
  double devices_ = 1;
  double limit_ = unbounded;
  bool likely_ = false;
  bool likely_here_ = false;  // for the current product
  bool knows_likely_ = false;
  label_set likely_labels_[max_mesh_axes]{};
  std::uint32_t must_precede_[max_mesh_axes]{};  // for each mesh axis, those that follow it in an operand or in the
                                                 // result
  std::uint32_t used_ = 0;                      // mesh axes that are not idle
  // The current product.
  bool last_ = false;
  int left_ = 0;
  int right_ = 0;
  int sequence_ = 0;
  label_set labels_in_[3]{};  // left, right, made
  label_set factors_ = 0;
  double full_work_ = 0;
  std::uint32_t priced_axes_ = 0;  // along which repeated work has a price
  mesh_set may_keep_[2]{};
  candidates given_{};
  tensor_candidates tensor_[2 * max_operands];
};

}  // namespace ostraka::planner::detail
