// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The price of a step of a program under a set of rules, all statements and tensors together, and the best of
/// many sets: the sets with the least time, then the least memory, then the simplest.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <ostraka/plan/pricing/memory.hpp>
#include <ostraka/plan/pricing/program_price.hpp>

namespace ostraka::planner {

/// The price of a step of a program under a set of rules on a mesh.
struct ranked_rules {
  device_mesh mesh;
  axis_rules rules;
  keeping kept = keeping::everything;
  double seconds = 0;
  double computing = 0;                ///< the part of `seconds` for computation
  double flops = 0;                    ///< flops of products and sums, per device
  std::vector<double> seconds_over{};  ///< seconds of communication, by set of mesh axes (mesh_set::bits)
  std::vector<double> bytes_over{};    ///< bytes that a device sends, by set of mesh axes
  program_memory memory{};

  [[nodiscard]] double moving() const { return seconds - computing; }
  [[nodiscard]] double bytes() const {
    double n = 0;
    for (double b : bytes_over) n += b;
    return n;
  }
  [[nodiscard]] int count() const {
    int n = 0;
    for (mesh_order o : rules) n += o.size();
    return n;
  }
};

/// The price of a whole program.
[[nodiscard]] inline ranked_rules price_program(program_flow const& flow, device_mesh const& mesh,
                                                axis_rules const& rules, statement_prices& prices,
                                                tensor_memory& memory, step_settings const& how) {
  ranked_rules r{mesh, rules, how.kept};
  std::size_t const sets = std::size_t{1} << mesh.axes();
  r.seconds_over.resize(sets);
  r.bytes_over.resize(sets);
  for (std::size_t s = 0; s < flow.of().statements.size(); ++s) {
    statement_price const price = prices.price(static_cast<int>(s), rules);
    if (!price.feasible) r.seconds = std::numeric_limits<double>::infinity();
    r.seconds += price.seconds();
    r.computing += price.computing;
    r.flops += price.flops;
    for (priced_collective const& c : price.collectives) {
      r.seconds_over[c.axes.bits] += c.seconds;
      r.bytes_over[c.axes.bits] += c.bytes;
    }
    r.memory.workspace = std::max(r.memory.workspace, price.workspace);
  }
  for (std::size_t t = 0; t < flow.of().tensors.size(); ++t) memory.add(static_cast<int>(t), rules, r.memory);
  return r;
}

namespace detail {

// The best sets of rules so far, over all meshes.
class best_rules {
 public:
  best_rules(int most, double limit) : most_(static_cast<std::size_t>(most) + 1), limit_(limit) {}

  // True if rules that take at least this time and memory can be among the best.
  [[nodiscard]] bool would_keep(double seconds, double bytes, int count) const {
    if (bytes > limit_ || seconds == std::numeric_limits<double>::infinity()) return false;
    if (all_.size() < most_) return true;
    ranked_rules const& last = all_.back();
    if (!alike(seconds, last.seconds)) return seconds < last.seconds;
    if (!alike(bytes, last.memory.total())) return bytes < last.memory.total();
    return count < last.count();
  }

  void offer(ranked_rules r) {
    if (!would_keep(r.seconds, r.memory.total(), r.count())) return;
    for (ranked_rules& known : all_)
      if (alike(known.seconds, r.seconds) && alike(known.memory.total(), r.memory.total())) {
        if (is_simpler(r, known)) known = std::move(r);
        return;  // the same rules in other words
      }
    auto const before = [](ranked_rules const& a, ranked_rules const& b) {
      return alike(a.seconds, b.seconds) ? a.memory.total() < b.memory.total() : a.seconds < b.seconds;
    };
    all_.insert(std::upper_bound(all_.begin(), all_.end(), r, before), std::move(r));
    if (all_.size() > most_) all_.pop_back();
  }

  [[nodiscard]] std::vector<ranked_rules>& all() {
    if (all_.size() == most_) all_.pop_back();
    return all_;
  }

 private:
  // Fewer rules; if equal, fewer axes; if equal, the axes that the program names first; then X before Y.
  static bool is_simpler(ranked_rules const& a, ranked_rules const& b) {
    if (a.count() != b.count()) return a.count() < b.count();
    auto const whole = [](ranked_rules const& r) { return std::count(r.rules.begin(), r.rules.end(), mesh_order{}); };
    if (whole(a) != whole(b)) return whole(a) > whole(b);
    for (std::size_t i = 0; i < a.rules.size(); ++i) {
      if (a.rules[i].size() != b.rules[i].size()) return a.rules[i].size() > b.rules[i].size();
      for (int k = 0; k < a.rules[i].size(); ++k)
        if (a.rules[i][k] != b.rules[i][k]) return a.rules[i][k] < b.rules[i][k];
    }
    return false;
  }

  static bool alike(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(a, b); }

  std::size_t most_;  // one more than requested, because not every wording of rules that tie with the last one is tried
  double limit_;
  std::vector<ranked_rules> all_;
};

}  // namespace detail
}  // namespace ostraka::planner
