// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The prices of one tensor's shardings: the shardings that it has (an operand's own, a product's by each
/// partition of its work) or gets by a reduction, and the shardings that products or the result need. The moves are
/// those of plan_reshard.hpp: parts are scattered onto any label or reduced everywhere, and then there is one exchange.

#include <cstdint>

#include <ostraka/plan/search/candidates.hpp>
#include <ostraka/plan/search/contraction_order.hpp>
#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/search/exchange_prices.hpp>
#include <ostraka/plan/search/layout.hpp>
#include <ostraka/plan/search/price.hpp>

namespace ostraka::planner::detail {

// With more mesh axes than this, partial sums of operands are not sliced before they are reduced.
inline constexpr int most_mesh_axes_sliced = 3;

// The shardings that a tensor has or gets by a reduction, and the shardings that were requested.
struct tensor_candidates {
  label_set labels = 0;
  double whole = 0;
  candidates reach{};
  candidates asked{};
};

class tensor_prices {
 public:
  constexpr explicit tensor_prices(einsum_problem const& problem)
      : rule_(problem.rule),
        e_(problem.sizes),
        exchanged_(problem.sizes),
        result_(layout_of(problem.result)),
        element_weight_(weight_of_elements(problem.element_weight)) {
    for (int m = 0; m < e_.mesh_axes; ++m) devices_ *= static_cast<double>(e_.mesh[m]);
  }

  // Skips candidates above `limit`, which never rises.
  constexpr void set_limit(double limit) { limit_ = limit; }

  // Adds an operand in all shardings that a reduction can give it.
  constexpr void add_operand(layout q, tensor_candidates& t) { slice({q, 0, 0, 0, 0, 0, 0, false}, t); }

  // Adds a product in the same way.
  constexpr void add_product(candidate const& c, tensor_candidates& t) { scatter(c, t); }

  // Lowers the limit to the price of a whole plan: of the cheapest last product without a reduction, and its exchange.
  [[gnu::cold]] constexpr void bound_result(candidates const& products, double whole) {
    if (rule_ == admit::no_communication) return;
    layout const partial = partial_marks(result_);
    int cheapest = -1;
    double price = limit_;
    for (int i = 0; i < products.count; ++i) {
      candidate const& c = products.item[i];
      double const of_product = c.price;
      if (of_product > price || partial_marks(c.at) != partial) continue;
      cheapest = i;
      price = of_product;
    }
    if (cheapest < 0) return;
    price += element_weight_ * exchanged_(products.item[cheapest].at, result_, whole, unbounded);
    if (price < limit_) limit_ = price;
  }

  // Adds the last product. If the result has to be partial, a divided local result may serve: the parts that a device
  // lacks are zeros.
  [[gnu::cold]] constexpr void add_result(candidate c, tensor_candidates& t) {
    scatter(c, t);
    if (partial_marks(result_) == 0) return;
    layout const before = c.at;
    if (!c.moved) ++c.moved_tensors;
    c.moved = true;
    for (int m = 0; m < e_.mesh_axes; ++m)
      if (state_of(result_, m).is_partial() && is_minor_end(before, m)) {
        c.at = with(before, m, axis_state::partial());
        add_result(c, t);
      }
  }

  // Returns the least price of a tensor in a sharding.
  [[gnu::cold]] constexpr candidate const& ask(tensor_candidates& t, layout q) {
    int const known = t.asked.find(q);
    if (known >= 0) return t.asked.item[known];
    candidate best{q, 0, unbounded, unbounded, unbounded, 0, 0, false};
    layout const partial = partial_marks(q);
    for (int i = 0; i < t.reach.count; ++i) {
      candidate c = t.reach.item[i];
      if (c.price > best.price) break;
      if (c.at != q) {
        if (partial_marks(c.at) != partial) continue;
        if (rule_ == admit::no_communication) {
          if (!is_slice(c.at, q, e_)) continue;
        } else {
          double const bound = (best.price < limit_ ? best.price : limit_) - c.price;
          double const moved = exchanged_(c.at, q, t.whole, bound / element_weight_);
          c.price += element_weight_ * moved;
          if (c.price > best.price) continue;
          c.volume += moved;
        }
        if (!c.moved) ++c.moved_tensors;
        c.moved = true;
        c.at = q;
      }
      if (precedes(c, best)) best = c;
    }
    if (t.asked.count + 1 == most_candidates)
      t.asked.clear();  // starts again; no search within the exact range requests that many
    return t.asked.add(best);
  }

  // The cheapest path to the named result. If that is partial, the path may use a mask or zeros.
  [[gnu::cold]] constexpr candidate finish(tensor_candidates& t) {
    candidate best{result_, 0, unbounded, unbounded, unbounded, 0, 0, false};
    undo_partial(t, result_, marked_axes(partial_marks(result_)), best);
    return best;
  }

 private:
  // Slices an operand before its partial sums are reduced, along mesh axes that it does not use. Products do not need
  // this: another partition gives the slice.
  [[gnu::cold]] constexpr void slice(candidate c, tensor_candidates& t) {
    scatter(c, t);
    if (partial_marks(c.at) == 0 || e_.mesh_axes > most_mesh_axes_sliced) return;
    c.moved_tensors = 1;
    c.moved = true;
    layout const before = c.at;
    for (int m = 0; m < e_.mesh_axes; ++m) {
      if (!is_replicated(before, m)) continue;
      for (int l = 0; t.labels >> l != 0; ++l)
        if ((t.labels >> l & 1) != 0) {
          c.at = before | at_minor_end(before, l, m);
          slice(c, t);
        }
    }
  }

  // Reduces partial sums: scatters some mesh axes one by one, and all-reduces the rest together.
  [[gnu::cold]] constexpr void scatter(candidate c, tensor_candidates& t) {
    if (c.price > limit_ || !t.reach.offer(c)) return;
    if (partial_marks(c.at) == 0 || rule_ == admit::no_communication || t.reach.count == most_candidates) return;
    std::uint32_t const partial = marked_axes(partial_marks(c.at)).bits;
    double const held = t.whole * devices_ / blocks_of(c.at, e_);
    if (!c.moved) ++c.moved_tensors;
    c.moved = true;
    for (std::uint32_t all = partial; all != 0; all = (all - 1) & partial) {
      candidate reduced = c;
      double const n = static_cast<double>(e_.ways(mesh_set{all}));
      reduced.at = without(c.at, mesh_set{all});
      double const moved = 2 * (n - 1) * (held / n);
      reduced.price += element_weight_ * moved;
      reduced.volume += moved;
      if (reduced.price <= limit_) t.reach.offer(reduced);
    }
    for (int m = 0; m < e_.mesh_axes; ++m)
      if ((partial >> m & 1) != 0) {
        candidate scattered = c;
        double const moved = held - held / static_cast<double>(e_.mesh[m]);
        scattered.price += element_weight_ * moved;
        scattered.volume += moved;
        layout const others = without(c.at, m);
        label_set const labels = t.labels;
        for (int l = 0; labels >> l != 0; ++l)
          if ((labels >> l & 1) != 0) {
            scattered.at = others | at_minor_end(c.at, l, m);
            scatter(scattered, t);
          }
      }
  }

  // Offers to `best` the paths to the result through shardings that are partial along fewer of the mesh axes `made`.
  [[gnu::cold]] constexpr void undo_partial(tensor_candidates& t, layout before, mesh_set made, candidate& best) {
    candidate c = ask(t, before);
    if (before != result_ && !c.moved) ++c.moved_tensors;
    if (precedes(c, best)) best = c;
    for (int m = 0; m < e_.mesh_axes; ++m) {
      if (!made.contains(m)) continue;
      mesh_set const others = made - mesh_set::of(m);
      layout const whole = without(before, m);
      undo_partial(t, whole, others, best);
      for (int l = 0; t.labels >> l != 0; ++l)
        if ((t.labels >> l & 1) != 0) undo_partial(t, whole | at_minor_end(whole, l, m), others, best);
    }
  }

  admit rule_;
  extents const& e_;
  exchange_prices exchanged_;
  layout result_;
  double element_weight_;
  double devices_ = 1;
  double limit_ = unbounded;
};

}  // namespace ostraka::planner::detail
