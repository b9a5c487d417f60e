// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. The cheapest way to multiply several tensors, found without the planner: every binary tree of products, every
/// sharding of every intermediate (partial ones too), and between them the cheapest moves of brute_force.hpp.
///
/// Of one tree: least volume, then least work. Of all trees: least volume · 4096 + work. Both are added over all devices.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "brute_force.hpp"

namespace ostraka::testing {

struct volume_and_work {
  std::int64_t volume = unreachable;
  std::int64_t work = 0;

  friend volume_and_work operator+(volume_and_work const& a, volume_and_work const& b) { return {a.volume + b.volume, a.work + b.work}; }
  friend bool operator<(volume_and_work const& a, volume_and_work const& b) { return a.volume != b.volume ? a.volume < b.volume : a.work < b.work; }
  [[nodiscard]] std::int64_t price() const { return 4096 * volume + work; }
};

class brute_force_orders {
 public:
  brute_force_orders(einsum_labels const& names, extents const& e) : sizes_(e), all_((1U << names.operands.size()) - 1), result_(names.result, e, true) {
    for (unsigned set = 1; set <= all_; ++set) {
      labels kept;
      for (int l = 0; l < e.labels; ++l) {
        bool inside = false;
        bool outside = false;
        for (std::size_t k = 0; k < names.operands.size(); ++k) {
          bool const has = std::find(names.operands[k].begin(), names.operands[k].end(), l) != names.operands[k].end();
          ((set >> k & 1) != 0 ? inside : outside) |= has;
        }
        outside = outside || std::find(names.result.begin(), names.result.end(), l) != names.result.end();
        if (inside && outside) kept.push_back(l);
      }
      std::size_t operand = 0;
      while ((set >> operand & 1) == 0) ++operand;
      bool const single = (set & (set - 1)) == 0;
      if (set != all_) tensors_.try_emplace(set, single ? names.operands[operand] : kept, e, false);
    }
    for (unsigned set = 1; set <= all_; ++set) find_products(set, set == all_ ? names.result : labels{});
  }

  [[nodiscard]] move_graph const& operand(std::size_t k) const { return tensors_.at(1U << k); }
  [[nodiscard]] move_graph const& result() const { return result_; }
  [[nodiscard]] std::int64_t trees() const { return trees_; }

  /// The price of the best tree for operands (and last the result) in these shardings, and of the best one that moves nothing.
  struct prices {
    volume_and_work least{};
    volume_and_work still{};
  };
  [[nodiscard]] prices least(std::vector<std::size_t> const& which) {
    which_ = which;
    trees_ = 0;
    prices best;
    for (table const& given : ways_to_make(all_)) {
      ++trees_;
      volume_and_work const here = moved(given, result_, which.back());
      if (best.least.volume == unreachable || here.price() < best.least.price()) best.least = here;
      if (here.volume == 0 && (best.still.volume != 0 || here.work < best.still.work)) best.still = here;
    }
    return best;
  }

  /// The least weight · volume + work.
  [[nodiscard]] std::int64_t least_price(std::vector<std::size_t> const& which, std::int64_t weight) {
    which_ = which;
    weight_ = weight;
    std::int64_t best = unreachable;
    for (table const& given : ways_to_make(all_)) best = std::min(best, moved(given, result_, which.back()).volume);
    weight_ = 0;
    return best;
  }

 private:
  using table = std::vector<volume_and_work>;

  struct product {
    std::size_t left;
    std::size_t right;
    std::size_t made;
    std::int64_t work;
  };

  void find_products(unsigned set, labels const& named) {
    for (unsigned a = (set - 1) & set; a != 0; a = (a - 1) & set) {
      unsigned const b = set ^ a;
      if (a < b) continue;
      move_graph const& left = tensors_.at(a);
      move_graph const& right = tensors_.at(b);
      move_graph const& made = set == all_ ? result_ : tensors_.at(set);
      labels kept = named;
      if (set != all_) {
        spec const& shape = made.nodes()[0];
        kept.assign(shape.label, shape.label + shape.rank);
      }
      auto& list = products_[{a, b}];
      for (std::size_t i = 0; i < left.nodes().size(); ++i)
        for (std::size_t j = 0; j < right.nodes().size(); ++j) {
          spec const& l = left.nodes()[i];
          spec const& r = right.nodes()[j];
          if (auto const p = free_product({l, r}, kept, sizes_)) list.push_back({i, j, made.find(*p), work_of({l, r}, sizes_)});
        }
    }
  }

  // For every tree of these operands: the least price of every sharding of its product.
  [[nodiscard]] std::vector<table> ways_to_make(unsigned set) const {
    std::vector<table> all;
    for (unsigned a = (set - 1) & set; a != 0; a = (a - 1) & set) {
      unsigned const b = set ^ a;
      if (a < b) continue;
      for (table const& left : ways_to_ask(a))
        for (table const& right : ways_to_ask(b)) {
          table made(set == all_ ? result_.nodes().size() : tensors_.at(set).nodes().size());
          for (product const& p : products_.at({a, b})) {
            volume_and_work const here = left[p.left] + right[p.right] + volume_and_work{weight_ > 0 ? p.work : 0, p.work};
            if (here.volume < unreachable && here < made[p.made]) made[p.made] = here;
          }
          all.push_back(made);
        }
    }
    return all;
  }

  [[nodiscard]] std::vector<table> ways_to_ask(unsigned set) const {
    move_graph const& moves = tensors_.at(set);
    std::vector<table> all;
    if ((set & (set - 1)) == 0) {
      table given(moves.nodes().size());
      std::size_t operand = 0;
      while ((set >> operand & 1) == 0) ++operand;
      given[which_[operand]] = {0, 0};
      all.push_back(given);
    } else {
      all = ways_to_make(set);
    }
    for (table& t : all) {
      table const given = t;
      for (std::size_t n = 0; n < t.size(); ++n) t[n] = moved(given, moves, n);
    }
    return all;
  }

  [[nodiscard]] volume_and_work moved(table const& given, move_graph const& moves, std::size_t to) const {
    volume_and_work best;
    std::int64_t const weight = weight_ > 0 ? weight_ : 1;
    for (std::size_t from = 0; from < given.size(); ++from) {
      if (given[from].volume >= unreachable || moves.volume(from, to) >= unreachable / weight) continue;
      volume_and_work const here = given[from] + volume_and_work{moves.volume(from, to) * weight, 0};
      if (here < best) best = here;
    }
    return best;
  }

  extents sizes_;
  unsigned all_;
  move_graph result_;
  std::map<unsigned, move_graph> tensors_{};
  std::map<std::pair<unsigned, unsigned>, std::vector<product>> products_{};
  std::vector<std::size_t> which_{};
  std::int64_t weight_ = 0;  // of what moves: volumes are prices then
  std::int64_t trees_ = 0;
};

}  // namespace ostraka::testing
