// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. The cheapest way to multiply several tensors, found without the planner: every binary tree of
/// products, every sharding of every intermediate (partial ones too), and between them the cheapest moves of
/// brute_force.hpp.
///
/// They are compared by price: by default 1024 · volume + work, where work counts as not divided along mesh axes by
/// which no named tensor divides a label of the product; or by a given weight and all work; or by work alone, if
/// nothing may move.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/search/brute_force.hpp"

namespace ostraka::testing {

struct price_and_volume {
  std::int64_t price = unreachable;
  std::int64_t volume = unreachable;

  friend price_and_volume operator+(price_and_volume const& a, price_and_volume const& b) {
    return {a.price + b.price, a.volume + b.volume};
  }
  friend auto operator<=>(price_and_volume const&, price_and_volume const&) = default;
};

class brute_force_orders {
 public:
  brute_force_orders(einsum_labels const& names, extents const& e)
      : sizes_(e), all_((1U << names.operands.size()) - 1), result_(names.result, e, true) {
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

  /// The least price for operands (and last the result) in these shardings, and the least volume at this price.
  [[nodiscard]] price_and_volume least(std::vector<std::size_t> const& which) {
    return least_by(which, by::default_price, default_weight);
  }

  /// The least work without any communication; unreachable if there is no such way.
  [[nodiscard]] std::int64_t least_work_of_still(std::vector<std::size_t> const& which) {
    return least_by(which, by::work_alone, 0).price;
  }

  /// The least weight · volume + work.
  [[nodiscard]] std::int64_t least_price(std::vector<std::size_t> const& which, std::int64_t weight) {
    return least_by(which, by::all_work, weight).price;
  }

 private:
  using table = std::vector<price_and_volume>;
  enum class by { default_price, all_work, work_alone };

  [[nodiscard]] price_and_volume least_by(std::vector<std::size_t> const& which, by compared, std::int64_t weight) {
    which_ = which;
    compared_ = compared;
    weight_ = weight;
    named_ = {result_.nodes()[which.back()]};
    for (std::size_t k = 0; k + 1 < which.size(); ++k) named_.push_back(operand(k).nodes()[which[k]]);
    trees_ = 0;
    price_and_volume best;
    for (table const& given : ways_to_make(all_)) {
      ++trees_;
      best = std::min(best, moved(given, result_, which.back()));
    }
    return best;
  }

  struct product {
    std::size_t left;
    std::size_t right;
    std::size_t made;
    std::int64_t work;
    mesh_set dividing;
  };

  struct products {
    std::vector<int> labels{};
    std::vector<product> all{};
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
      products& list = products_[{a, b}];
      for (int l = 0; l < sizes_.labels; ++l)
        if (left.nodes()[0].find(l) >= 0 || right.nodes()[0].find(l) >= 0) list.labels.push_back(l);
      for (std::size_t i = 0; i < left.nodes().size(); ++i)
        for (std::size_t j = 0; j < right.nodes().size(); ++j) {
          spec const& l = left.nodes()[i];
          spec const& r = right.nodes()[j];
          if (auto const p = free_product({l, r}, kept, sizes_))
            list.all.push_back({i, j, made.find(*p), work_of({l, r}, sizes_), splits_of({l, r})});
        }
    }
  }

  // For every tree of these operands: the least price of every sharding of its product.
  [[nodiscard]] std::vector<table> ways_to_make(unsigned set) const {
    std::vector<table> all;
    for (unsigned a = (set - 1) & set; a != 0; a = (a - 1) & set) {
      unsigned const b = set ^ a;
      if (a < b) continue;
      products const& list = products_.at({a, b});
      mesh_set const worth = worth_dividing(list.labels, named_);
      for (table const& left : ways_to_ask(a))
        for (table const& right : ways_to_ask(b)) {
          table made(set == all_ ? result_.nodes().size() : tensors_.at(set).nodes().size());
          for (product const& p : list.all) {
            price_and_volume const factors = left[p.left] + right[p.right];
            if (factors.price >= unreachable) continue;
            std::int64_t const work =
                compared_ == by::default_price ? priced_work(list.labels, p.dividing, worth, sizes_) : p.work;
            made[p.made] = std::min(made[p.made], factors + price_and_volume{work, 0});
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

  [[nodiscard]] price_and_volume moved(table const& given, move_graph const& moves, std::size_t to) const {
    price_and_volume best;
    for (std::size_t from = 0; from < given.size(); ++from) {
      std::int64_t const volume = moves.volume(from, to);
      if (given[from].price >= unreachable || volume >= unreachable / (weight_ + 1) ||
          (compared_ == by::work_alone && volume > 0))
        continue;
      best = std::min(best, given[from] + price_and_volume{weight_ * volume, volume});
    }
    return best;
  }

  extents sizes_;
  unsigned all_;
  move_graph result_;
  std::map<unsigned, move_graph> tensors_{};
  std::map<std::pair<unsigned, unsigned>, products> products_{};
  std::vector<std::size_t> which_{};
  std::vector<spec> named_{};
  by compared_ = by::default_price;
  std::int64_t weight_ = default_weight;
  std::int64_t trees_ = 0;
};

}  // namespace ostraka::testing
