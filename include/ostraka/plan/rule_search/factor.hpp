// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A price that depends on a few logical axes, for the search over rules (rule_search.hpp): a tree of the
/// axes' rules, in the order in which the search decides the axes. Each node knows the least price of any completion of
/// the rules above it, so the search has an exact bound for each factor. A rule that no completion admits has no node.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner::detail {

// The seconds of a statement, or the bytes of a tensor.
struct two_prices {
  double seconds = 0;
  double bytes = 0;
};

class price_factor {
 public:
  // `axes` are in the order of the search. `values[a]` lists the mesh axes that may divide axis a. `admits(i, rules)`
  // is true if the rules may divide the first i + 1 of `axes` as they say. `price(rules, found)` returns false if the
  // rules admit no plan.
  template <class Values, class Admits, class Price>
  price_factor(std::vector<int> axes, Values const& values, std::vector<mesh_order>& rules, Admits const& admits,
               Price const& price)
      : axes_(std::move(axes)) {
    nodes_.push_back({});
    fill(0, 0, values, rules, admits, price);
  }

  [[nodiscard]] std::vector<int> const& axes() const { return axes_; }
  [[nodiscard]] two_prices const& least(int at_node) const { return nodes_[at(at_node)].least; }
  [[nodiscard]] bool admits_any() const { return nodes_[0].any; }
  // The child node for the value with this number; −1 if there is none.
  [[nodiscard]] int below(int at_node, int value) const {
    int const first = nodes_[at(at_node)].children;
    return first < 0 ? -1 : children_[at(first + value)];
  }

 private:
  struct node {
    two_prices least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    int children = -1;
    bool any = false;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  template <class Values, class Admits, class Price>
  void fill(int here, std::size_t depth, Values const& values, std::vector<mesh_order>& rules, Admits const& admits,
            Price const& price) {
    if (depth == axes_.size()) {
      two_prices found;
      if (!price(rules, found)) return;
      nodes_[at(here)].least = found;
      nodes_[at(here)].any = true;
      return;
    }
    std::size_t const axis = at(axes_[depth]);
    int const first = static_cast<int>(children_.size());
    nodes_[at(here)].children = first;
    children_.resize(children_.size() + values[axis].size(), -1);
    for (std::size_t v = 0; v < values[axis].size(); ++v) {
      rules[axis] = values[axis][v];
      if (!admits(depth, rules)) continue;
      int const child = static_cast<int>(nodes_.size());
      nodes_.push_back({});
      fill(child, depth + 1, values, rules, admits, price);
      if (!nodes_[at(child)].any) continue;
      children_[at(first) + v] = child;
      node& mine = nodes_[at(here)];
      mine.any = true;
      mine.least.seconds = std::min(mine.least.seconds, nodes_[at(child)].least.seconds);
      mine.least.bytes = std::min(mine.least.bytes, nodes_[at(child)].least.bytes);
    }
    rules[axis] = {};
  }

  std::vector<int> axes_;
  std::vector<node> nodes_;
  std::vector<int> children_;
};

}  // namespace ostraka::planner::detail
