// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The order in which the operands of an einsum are multiplied: a binary tree of products of two tensors each,
/// such as (A · B) · (C · D).
///
/// An intermediate has the labels of its factors that occur in another operand or in the result. Its other labels are
/// summed immediately.

#include <cstdint>

#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/search/price.hpp>
#include <ostraka/plan/spec/cost.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// A binary tree of products. Product k of n operands makes tensor n + k, and the last one makes the result. Factors
/// come before their products.
struct contraction_order {
  int products = 0;
  int left[max_operands]{};
  int right[max_operands]{};
};

namespace detail {

// The labels of the operands and of the result, as sets.
struct label_sets {
  int operands = 0;
  label_set of[max_operands]{};
  label_set result = 0;
  double extent[max_labels]{};
  int mesh_axes = 0;
  double mesh[max_mesh_axes]{};
  label_set priced[max_mesh_axes]{};  // a product with one of these labels prices the mesh axis (price.hpp)

  [[gnu::cold]] constexpr explicit label_sets(einsum_problem const& p)
      : operands(p.operands.size()), result(set_of(p.result)), mesh_axes(p.sizes.mesh_axes) {
    bool const all = prices_all_work(p.element_weight, p.rule);
    for (int l = 0; l < p.sizes.labels; ++l) extent[l] = static_cast<double>(p.sizes.label[l]);
    for (int m = 0; m < mesh_axes; ++m) {
      mesh[m] = static_cast<double>(p.sizes.mesh[m]);
      priced[m] = all ? ~label_set{0} : 0;
    }
    for (int k = 0; k < operands; ++k) {
      of[k] = set_of(p.operands[k]);
      add_splits(p.operands[k]);
    }
    add_splits(p.result);
  }

  constexpr void add_splits(spec const& s) {
    for (int i = 0; i < s.rank; ++i)
      for (std::uint32_t c = s.over[i].code; c != 0; c >>= 4) priced[(c & 15) - 1] |= label_set{1} << s.label[i];
  }

  static constexpr label_set set_of(spec const& s) {
    label_set set = 0;
    for (int i = 0; i < s.rank; ++i) set |= label_set{1} << s.label[i];
    return set;
  }

  // The labels of the product of a set of operands.
  [[nodiscard]] constexpr label_set product_of(std::uint32_t among) const {
    label_set inside = 0;
    label_set outside = result;
    for (int k = 0; k < operands; ++k) (among >> k & 1 ? inside : outside) |= of[k];
    return inside & outside;
  }

  [[nodiscard]] constexpr double elements(label_set set) const {
    double n = 1;
    for (int l = 0; set >> l != 0; ++l)
      if ((set >> l & 1) != 0) n *= extent[l];
    return n;
  }

  // The least work of a product with these labels, as its price counts it: divided along every priced mesh axis.
  [[nodiscard]] constexpr double least_work(label_set set) const {
    double n = elements(set);
    for (int m = 0; m < mesh_axes; ++m)
      if ((priced[m] & set) == 0) n *= mesh[m];
    return n;
  }
};

constexpr int size_of(std::uint32_t set) {
  int n = 0;
  for (; set != 0; set &= set - 1) ++n;
  return n;
}

// The least work of an order; unbounded if an intermediate has more labels than a tensor may have.
[[gnu::cold]] constexpr double least_work(contraction_order const& order, label_sets const& labels) {
  std::uint32_t among[2 * max_operands]{};
  for (int k = 0; k < labels.operands; ++k) among[k] = std::uint32_t{1} << k;
  double work = 0;
  for (int p = 0; p < order.products; ++p) {
    std::uint32_t const a = among[order.left[p]];
    std::uint32_t const b = order.right[p] < 0 ? 0 : among[order.right[p]];
    among[labels.operands + p] = a | b;
    if (p + 1 < order.products && size_of(labels.product_of(a | b)) > max_rank) return unbounded;
    label_set const left = order.left[p] < labels.operands ? labels.of[order.left[p]] : labels.product_of(a);
    label_set const right = order.right[p] < 0                 ? 0
                            : order.right[p] < labels.operands ? labels.of[order.right[p]]
                                                               : labels.product_of(b);
    work += labels.least_work(left | right);
  }
  return work;
}

// The number of orders: (2n − 3)!!
constexpr int number_of_orders(int operands) {
  int n = 1;
  for (int k = 3; k <= operands; ++k) n *= 2 * k - 3;
  return n;
}

// Returns the order with this number. Operand k ≥ 2 is multiplied with one of the 2k − 1 tensors that exist without it,
// which digit k of the number selects. Digit 0 is the product of all earlier operands, so order 0 goes from left to
// right.
[[gnu::cold]] constexpr contraction_order order_number(int number, int operands) {
  contraction_order order;
  if (operands == 1) {
    order.products = 1;
    order.right[0] = no_tensor;
    return order;
  }
  // Products in the order in which they are added; sorted below so that factors come first.
  int left[max_operands]{};
  int right[max_operands]{};
  int root = operands;
  right[0] = 1;
  for (int k = 2; k < operands; ++k) {
    int const choice = number % (2 * k - 1);
    number /= 2 * k - 1;
    int const fresh = operands + k - 1;
    int const with = choice == 0   ? root
                     : choice <= k ? choice - 1
                                   : operands + choice - k - 1 + (operands + choice - k - 1 >= root ? 1 : 0);
    for (int p = 0; p < k - 1; ++p) {
      if (left[p] == with) left[p] = fresh;
      if (right[p] == with) right[p] = fresh;
    }
    left[k - 1] = with;
    right[k - 1] = k;
    if (with == root) root = fresh;
  }
  int place[2 * max_operands]{};  // 1 + the tensor that a product became
  for (int k = 0; k < operands; ++k) place[k] = k + 1;
  while (order.products < operands - 1)
    for (int p = 0; p < operands - 1; ++p)
      if (place[operands + p] == 0 && place[left[p]] != 0 && place[right[p]] != 0) {
        order.left[order.products] = place[left[p]] - 1;
        order.right[order.products] = place[right[p]] - 1;
        place[operands + p] = operands + ++order.products;
      }
  return order;
}

// The order with the least sum of work and `weight` times the elements multiplied and made, by dynamic programming over
// sets of operands.
class best_order {
 public:
  [[gnu::cold]] constexpr best_order(label_sets const& labels, double weight) : labels_(labels) {
    std::uint32_t const all = (std::uint32_t{1} << labels.operands) - 1;
    price_[0] = unbounded;
    cut_[0] = 0;
    for (std::uint32_t s = 1; s <= all; ++s) {
      cut_[s] = 0;
      bool const single = (s & (s - 1)) == 0;
      set_[s] = single ? labels.of[size_of(s - 1)] : labels.product_of(s);
      price_[s] = single ? 0 : unbounded;
      if (single || (s != all && size_of(set_[s]) > max_rank)) continue;
      double const made = weight == 0 ? 0 : weight * labels.elements(set_[s]);
      for (std::uint32_t a = (s - 1) & s; a > (s ^ a); a = (a - 1) & s) {  // each cut once
        if (price_[a] + price_[s ^ a] >= price_[s]) continue;
        double const price = price_[a] + price_[s ^ a] + labels.least_work(set_[a] | set_[s ^ a]) + made;
        if (price < price_[s]) {
          price_[s] = price;
          cut_[s] = a;
        }
      }
    }
    if (price_[all] < unbounded) add(all);
  }

  contraction_order order{};  // without products if there is no order

 private:
  [[gnu::cold]] constexpr int add(std::uint32_t s) {
    if (cut_[s] == 0) return size_of(s - 1);
    std::uint32_t const with_first = (cut_[s] & (s & (~s + 1))) != 0 ? cut_[s] : s ^ cut_[s];
    int const left = add(with_first);
    int const right = add(s ^ with_first);
    order.left[order.products] = left;
    order.right[order.products] = right;
    return labels_.operands + order.products++;
  }

  static constexpr int sets = 1 << max_operands;
  label_sets const& labels_;
  label_set set_[sets];
  double price_[sets];
  std::uint32_t cut_[sets];
};

}  // namespace detail
}  // namespace ostraka::planner
