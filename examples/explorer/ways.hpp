// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Every way to run one einsum that is worth considering, each as a plan and as the program text that selects exactly
/// that plan:
///
///     a named result     C = einsum(A, B), by the default plan or another policy's; also with idle mesh axes
///     moves said         C = reshard(einsum(reshard(A), reshard(B), no_communication))
///
/// For an einsum of two tensors the search tries all partitions of the work, for several tensors all orders of
/// products, each with its best partition. Every move is planned as the library plans it, so the program would do the
/// same. Ways with the same steps count as one; ways that another beats in bytes, operations and memory at once are
/// marked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/partition_search.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>
#include <ostraka/plan/search/price.hpp>
#include <ostraka/plan/workspace/memory_use.hpp>

namespace explorer {

using namespace ostraka::planner;

/// One call of a program: a product, or a move of one tensor. Tensors are numbered as in plans: operands first, then
/// the results of calls, in their order; `made` of the last call is the_result.
struct written_call {
  bool moves = false;  ///< os::reshard, else os::einsum
  int left = no_tensor;
  int right = no_tensor;  ///< of a product of one operand or of a move: none
  int made = the_result;
  spec result{};
  einsum_plan plan{};
};

/// One way to run an einsum.
struct einsum_way {
  einsum_plan plan{};                 ///< the whole way as one plan
  admit rule = admit::any;            ///< the policy, if the way is one call
  bool idle = false;                  ///< it uses mesh axes that no tensor names (os::idle)
  std::vector<written_call> calls{};  ///< empty: the einsum is one call
  std::int64_t elements = 0;          ///< moved by all devices together
  std::int64_t flops = 0;             ///< of the device with the largest blocks
  std::int64_t workspace = 0;         ///< elements beyond operands and result, likewise; with tensors between calls
  double price = 0;                   ///< the planner's (price.hpp)
  bool beaten = false;                ///< another way is no worse in moves, operations and memory, and better in one

  [[nodiscard]] bool one_call() const { return calls.empty(); }
};

/// True if two plans do the same. The order of moves of different tensors does not matter.
inline bool same_steps(einsum_plan const& a, einsum_plan const& b) {
  if (a.steps.size() != b.steps.size()) return false;
  bool used[max_plan_steps]{};
  for (planned_step const& s : a.steps) {
    bool found = false;
    for (int k = 0; k < b.steps.size() && !found; ++k) {
      planned_step const& t = b.steps[k];
      found = !used[k] && s.kind == t.kind && s.operand == t.operand && s.axes == t.axes && s.to == t.to &&
              s.left == t.left && s.right == t.right && (contracts(s.kind) || s.from == t.from);
      if (found) used[k] = true;
    }
    if (!found) return false;
  }
  return true;
}

/// Elements of the largest local block.
[[nodiscard]] constexpr std::int64_t held_at_most(spec const& s, extents const& e) {
  std::int64_t n = 1;
  for (int i = 0; i < s.rank; ++i) n *= largest_size(e.label[s.label[i]], e.ways(s.over[i]));
  return n;
}

namespace detail {

using namespace ostraka::planner::detail;  // the parts of the planner's own search: orders, layouts, prices

class way_search {
 public:
  explicit way_search(einsum_problem const& problem) : problem_(problem), all_(problem.sizes), labels_(problem) {}

  [[gnu::cold]] std::vector<einsum_way> run(mesh_set idle) {
    one_calls(idle);
    if (!idle.empty()) {  // moves are said without them
      problem_ = without_mesh(problem_, idle);
      labels_ = label_sets(problem_);
    }
    double choices = 1;
    for (int m = 0; m < problem_.sizes.mesh_axes; ++m) choices *= problem_.sizes.labels + 1;
    many_ = choices > most_choices_tried;
    if (problem_.operands.size() <= 2)
      partitions({}, 0);
    else if (problem_.operands.size() <= 4)
      orders();
    mark_beaten();
    return std::move(ways_);
  }

 private:
  // Mesh axes that no tensor names come last, so that dropping their sizes leaves them out.
  static einsum_problem without_mesh(einsum_problem p, mesh_set idle) {
    while (p.sizes.mesh_axes > 0 && idle.contains(p.sizes.mesh_axes - 1)) --p.sizes.mesh_axes;
    return p;
  }

  void one_calls(mesh_set idle) {
    einsum_problem p = without_mesh(problem_, idle);
    for (admit rule :
         {admit::any, admit::no_communication, admit::gather_left, admit::gather_right, admit::reduce_result}) {
      if (p.operands.size() != 2 && rule != admit::any && rule != admit::no_communication) continue;
      p.rule = rule;
      add_call(p, rule, false);
    }
    if (idle.empty()) return;
    add_call(problem_, admit::any, true);
  }

  void add_call(einsum_problem const& p, admit rule, bool with_idle) {
    einsum_way w;
    w.plan = plan_einsum(p);
    if (!w.plan.feasible) return;
    w.rule = rule;
    w.idle = with_idle;
    w.workspace = peak_workspace(w.plan, all_);
    add(std::move(w));
  }

  void add(einsum_way w) {
    w.plan.rule = admit::any;  // prices are compared
    w.plan.sizes = all_;
    for (einsum_way const& other : ways_)
      if (same_steps(other.plan, w.plan)) return;
    w.elements = w.plan.elements_moved(all_);
    w.flops = w.plan.flops(all_);
    w.price = price_of(w.plan, all_);
    ways_.push_back(std::move(w));
  }

  // All partitions of one product: each mesh axis divides nothing, leaves a factor partial, or divides a label, at
  // every place among the mesh axes that already divide it.
  void partitions(layout d, int m) {
    if (m == problem_.sizes.mesh_axes) {
      contraction_order order = order_number(0, problem_.operands.size());
      partitioned_order p;
      p.order = order;
      p.partition[0] = d;
      return spell(p);
    }
    partitions(d, m + 1);
    for (int side = 0; side < problem_.operands.size(); ++side)
      if (problem_.operands[side].partial.contains(m))
        partitions(d | layout_along(m, axis_state::keep_partial(side)), m + 1);
    for (int l = 0; l < problem_.sizes.labels; ++l) {
      if (many_ && !divides_somewhere(m, l)) continue;
      int const there = splits_of(d, l);
      for (int place = many_ ? there : 0; place <= there; ++place)
        partitions(d + (place < there ? inserted(d, l, place, m) : layout_along(m, axis_state::split(l, place))),
                   m + 1);
    }
  }

  // True if the label is divided along the mesh axis in an operand or in the result.
  [[nodiscard]] bool divides_somewhere(int m, int label) const {
    bool found = false;
    auto const look = [&](spec const& s) {
      int const at = s.find(label);
      found = found || (at >= 0 && s.over[at].find(m) >= 0);
    };
    for (spec const& s : problem_.operands) look(s);
    look(problem_.result);
    return found;
  }

  void orders() {
    int const count = number_of_orders(problem_.operands.size());
    for (int i = 0; i < count; ++i) {
      contraction_order const order = order_number(i, problem_.operands.size());
      if (least_work(order, labels_) == unbounded) continue;
      partition_search search(problem_, labels_, effort_for(problem_.operands.size(), problem_.sizes.mesh_axes));
      partitioned_order const best = search.run(order, unbounded, false);
      if (best.price < unbounded) spell(best);
    }
  }

  // Writes out each move: the moves of the factors, the product, the move of the result.
  void spell(partitioned_order const& p) {
    einsum_way w;
    w.plan.operands = problem_.operands;
    w.plan.result = problem_.result;
    w.plan.feasible = true;
    spec now[max_tensors]{};
    int const n = problem_.operands.size();
    for (int k = 0; k < n; ++k) now[k] = problem_.operands[k];
    std::int64_t held = 0;
    std::uint32_t among[max_tensors]{};
    for (int k = 0; k < n; ++k) among[k] = std::uint32_t{1} << k;
    for (int i = 0; i < p.order.products; ++i) {
      bool const last = i + 1 == p.order.products;
      int const made = last ? the_result : n + i;
      int const factor[2] = {p.order.left[i], p.order.right[i]};
      among[n + i] = among[factor[0]] | (factor[1] < 0 ? 0 : among[factor[1]]);
      for (int side = 0; side < 2; ++side) {
        if (factor[side] < 0) continue;
        spec const asked =
            spec_under(now[factor[side]], asked_of_factor(p.partition[i], label_sets::set_of(now[factor[side]]), side));
        if (!move(w, factor[side], now[factor[side]], asked, held)) return;
      }
      spec const shape = last ? problem_.result : shape_of_product(now, factor, among[n + i]);
      spec const given = spec_under(shape, given_by_product(p.partition[i], label_sets::set_of(shape)));
      if (!multiply(w, factor, now, made, given, held)) return;
      if (last) {
        spec result = given;
        if (!move(w, the_result, result, problem_.result, held)) return;
      } else {
        now[n + i] = given;
      }
    }
    if (w.calls.size() == 1 && !w.calls[0].moves) w.rule = admit::no_communication, w.calls.clear();
    add(std::move(w));
  }

  // The labels that remain, first those of the left factor.
  [[nodiscard]] spec shape_of_product(spec const (&now)[max_tensors], int const (&factor)[2],
                                      std::uint32_t among) const {
    label_set const kept = labels_.product_of(among);
    spec made;
    for (int f : factor)
      for (int i = 0; f >= 0 && i < now[f].rank; ++i)
        if ((kept >> now[f].label[i] & 1) != 0 && made.find(now[f].label[i]) < 0) made.push_back(now[f].label[i]);
    return made;
  }

  // False if there are more steps than a plan holds.
  bool append(einsum_way& w, planned_step const& s) {
    if (w.plan.steps.size() == max_plan_steps) return false;
    w.plan.steps.push_back(s);
    return true;
  }

  bool move(einsum_way& w, int tensor, spec& now, spec const& to, std::int64_t& held) {
    if (now == to) return true;
    written_call call;
    call.moves = true;
    call.left = tensor;
    call.made = tensor;
    call.result = to;
    call.plan.operands.push_back(now);
    call.plan.result = to;
    call.plan.sizes = problem_.sizes;
    call.plan.feasible = true;
    for (planned_step s : plan_reshard(now, to, problem_.sizes)) {
      call.plan.steps.push_back(s);
      s.operand = tensor;
      if (!append(w, s)) return false;
    }
    account(w, call, held, tensor == the_result);
    w.calls.push_back(call);
    now = to;
    return true;
  }

  bool multiply(einsum_way& w, int const (&factor)[2], spec const (&now)[max_tensors], int made, spec const& given,
                std::int64_t& held) {
    einsum_problem p = problem_;
    p.operands.count = 0;
    for (int f : factor)
      if (f >= 0) p.operands.push_back(now[f]);
    p.result = given;
    p.rule = admit::no_communication;
    written_call call;
    call.left = factor[0];
    call.right = factor[1];
    call.made = made;
    call.result = given;
    call.plan = plan_einsum(p);
    if (!call.plan.feasible) return false;
    for (planned_step s : call.plan.steps) {
      if (contracts(s.kind)) {
        s.operand = made;
        s.left = factor[s.left];
        if (s.right >= 0) s.right = factor[s.right];
      } else {
        s.operand = s.operand == the_result ? made : factor[s.operand];
      }
      if (!append(w, s)) return false;
    }
    account(w, call, held, given == problem_.result && made == the_result);
    w.calls.push_back(call);
    return true;
  }

  // The result of a call is in memory until the last call has run.
  void account(einsum_way& w, written_call const& call, std::int64_t& held, bool is_result) const {
    if (!is_result) held += held_at_most(call.result, problem_.sizes);
    w.workspace = std::max(w.workspace, held + peak_workspace(call.plan, problem_.sizes));
  }

  void mark_beaten() {
    for (einsum_way& w : ways_)
      for (einsum_way const& other : ways_)
        w.beaten =
            w.beaten || (other.elements <= w.elements && other.flops <= w.flops && other.workspace <= w.workspace &&
                         (other.elements < w.elements || other.flops < w.flops || other.workspace < w.workspace));
  }

  // With more choices, a mesh axis is tried only on labels that it divides in some tensor, and after the mesh axes
  // that already divide them.
  static constexpr double most_choices_tried = 1300;  // six labels on three mesh axes, five on four

  einsum_problem problem_;  // once policies are tried, without idle mesh axes
  extents all_;             // with them
  label_sets labels_;
  bool many_ = false;
  std::vector<einsum_way> ways_{};
};

}  // namespace detail

/// Sorts large elements; equal ones keep their order.
template <class T, class Less>
void sort_large(std::vector<T>& all, Less const& less) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return less(all[a], all[b]) || (!less(all[b], all[a]) && a < b); });
  std::vector<T> sorted;
  sorted.reserve(all.size());
  for (std::size_t i : order) sorted.push_back(std::move(all[i]));
  all = std::move(sorted);
}

/// All ways to run an einsum: the planner's default first, the others by price. `idle` are the mesh axes that no tensor
/// names and that os::idle would offer. @pre these are the last mesh axes, and each label of the result is an operand's
[[nodiscard, gnu::cold]] inline std::vector<einsum_way> ways_of_einsum(einsum_problem const& problem,
                                                                       mesh_set idle = {}) {
  std::vector<einsum_way> ways = detail::way_search(problem).run(idle);
  if (ways.empty()) return ways;
  einsum_way const* const chosen = ways.data();
  sort_large(ways, [=](einsum_way const& a, einsum_way const& b) {
    if ((&a == chosen) != (&b == chosen)) return &a == chosen;
    return a.price != b.price ? a.price < b.price : a.elements < b.elements;
  });
  return ways;
}

}  // namespace explorer
