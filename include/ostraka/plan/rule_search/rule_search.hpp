// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The search for rules, the mesh axes that divide each logical axis of a program, such that a step takes the
/// least time among all rules that fit into memory. It goes axis by axis, depth first. For each statement and each
/// tensor it knows the least price of any completion of the rules so far (factor.hpp). It skips only completions that
/// cannot be among the best, so it is exact. Mesh axes with equal sizes and links are interchangeable, and only one
/// order of them is tried.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/rule_search/check_search.hpp>
#include <ostraka/plan/rule_search/factor.hpp>
#include <ostraka/plan/rule_search/mesh_shapes.hpp>
#include <ostraka/plan/rule_search/ranked_rules.hpp>

namespace ostraka::planner {

/// How os::search_rules searches: how many results, in how much memory, on which meshes.
struct search_settings {
  int most = 10;                  ///< sets of rules to rank
  double memory_bytes = 0;        ///< per device; 0: the machine's memory
  int mesh_axes = 2;              ///< the most mesh axes if the search chooses the mesh
  std::int64_t node_devices = 0;  ///< devices of a node; 0: all devices are in one node
  step_settings step{};           ///< except for `kept`, which the search chooses
  std::vector<keeping> kept{keeping::everything, keeping::all_but_gathers, keeping::layers};  ///< the choices of `kept`
                                                                                              ///< to try
};

struct search_result {
  std::vector<ranked_rules> ranked;  ///< the best first; empty if nothing fits
  double least_memory = 0;           ///< a lower bound for all rules, known even if nothing fits
  double memory_bytes = 0;           ///< the allowed bytes
  std::size_t meshes = 0;
  std::size_t decisions = 0;         ///< partial sets of rules that were visited
  std::size_t plans = 0;             ///< number of plans made by the planner
};

namespace detail {

// The search on one mesh.
class rules_on_mesh {
 public:
  rules_on_mesh(program_flow const& flow, device_mesh const& mesh, machine const& on, step_settings const& how,
                plan_table& plans)
      : flow_(flow),
        p_(flow.of()),
        mesh_(mesh),
        how_(how),
        prices_(flow, mesh, on, how, plans),
        memory_(flow, prices_, how),
        rules_(p_.axes.size()) {
    find_conflicts();
    find_order();
    find_values();
    find_interchangeable();
    for (std::size_t s = 0; s < p_.statements.size(); ++s)
      add_factor(prices_.axes_of(static_cast<int>(s)), [this, s](axis_rules const& rules, two_prices& found) {
        statement_price const price = prices_.price(static_cast<int>(s), rules);
        found.seconds = price.seconds();
        return price.feasible && price.seconds() < std::numeric_limits<double>::infinity();
      });
    for (std::size_t t = 0; t < p_.tensors.size(); ++t)
      add_factor(memory_.axes_of(static_cast<int>(t)), [this, t](axis_rules const& rules, two_prices& found) {
        program_memory held;
        memory_.add(static_cast<int>(t), rules, held);
        found.bytes = held.total();
        return true;
      });
  }

  [[nodiscard]] double least_memory() const {
    double n = 0;
    for (price_factor const& f : factors_) n += f.least(0).bytes;
    return n;
  }

  std::size_t search(best_rules& best) {
    two_prices least;
    std::vector<int> nodes(factors_.size(), 0);
    for (price_factor const& f : factors_) {
      if (!f.admits_any()) return 0;
      least.seconds += f.least(0).seconds;
      least.bytes += f.least(0).bytes;
    }
    decisions_ = 0;
    decide(0, least, nodes, 0, {}, best);
    return decisions_;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Finds axes that cannot share a mesh axis, because one tensor has both.
  void find_conflicts() {
    conflicts_.assign(p_.axes.size(), std::vector<bool>(p_.axes.size()));
    for (program_tensor const& t : p_.tensors)
      for (int a : t.axes)
        for (int b : t.axes)
          if (a != b && !t.sharding) conflicts_[at(a)][at(b)] = true;
  }

  // Orders the axes: those of most statements first, then by number. (clang warns about libstdc++ 12's
  // std::stable_sort.)
  void find_order() {
    std::vector<int> uses(p_.axes.size());
    for (std::size_t s = 0; s < p_.statements.size(); ++s)
      for (int a : prices_.axes_of(static_cast<int>(s))) ++uses[at(a)];
    for (std::size_t a = 0; a < p_.axes.size(); ++a)
      if (uses[a] > 0) order_.push_back(static_cast<int>(a));
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return uses[at(a)] != uses[at(b)] ? uses[at(a)] > uses[at(b)] : a < b; });
    place_.assign(p_.axes.size(), 0);
    for (std::size_t i = 0; i < order_.size(); ++i) place_[at(order_[i])] = static_cast<int>(i);
  }

  // Lists for each axis the mesh axes that may divide it, the fewest first.
  void find_values() {
    std::vector<mesh_order> all{{}};
    for (std::size_t i = 0; i < all.size(); ++i)
      for (int m = 0; m < mesh_.axes(); ++m)
        if (mesh_.sizes[at(m)] > 1 && all[i].find(m) < 0) {
          all.push_back(all[i]);
          all.back().push_back(m);
        }
    values_.resize(p_.axes.size());
    for (int a : order_)
      for (mesh_order o : all) {
        std::int64_t const ways = mesh_.ways(o.axes());
        std::int64_t const n = p_.axes[at(a)].extent;
        if (!o.empty() && (p_.axes[at(a)].whole || ways > n || (how_.even_blocks && n % ways != 0))) continue;
        values_[at(a)].push_back(o);
      }
  }

  // Finds for each mesh axis the last interchangeable one before it; −1 if there is none.
  void find_interchangeable() {
    for (int m = 0; m < mesh_.axes(); ++m) {
      twin_[m] = -1;
      for (int k = 0; k < m && p_.mesh_axes.empty(); ++k)
        if (mesh_.sizes[at(k)] == mesh_.sizes[at(m)] && same_links(mesh_.levels[at(k)], mesh_.levels[at(m)]))
          twin_[m] = k;
    }
  }
  static bool same_links(std::vector<level> const& a, std::vector<level> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](level const& x, level const& y) { return x.links == y.links && x.ways == y.ways; });
  }

  template <class Price>
  void add_factor(std::vector<int> axes, Price const& price) {
    std::sort(axes.begin(), axes.end(), [&](int a, int b) { return place_[at(a)] < place_[at(b)]; });
    auto const admits = [this, axes](std::size_t i, axis_rules const& rules) {
      for (std::size_t j = 0; j < i; ++j)
        if (conflicts_[at(axes[i])][at(axes[j])] &&
            !(rules[at(axes[i])].axes() & rules[at(axes[j])].axes()).empty())
          return false;
      return true;
    };
    factors_.emplace_back(axes, values_, rules_, admits, price);
    of_axis_.resize(p_.axes.size());
    for (int a : axes) of_axis_[at(a)].push_back(factors_.size() - 1);
  }

  // True if each mesh axis is used after its twin, the interchangeable one before it.
  [[nodiscard]] bool in_order(mesh_order o, mesh_set& used) const {
    for (int i = 0; i < o.size(); ++i) {
      if (twin_[o[i]] >= 0 && !used.contains(twin_[o[i]])) return false;
      used.insert(o[i]);
    }
    return true;
  }

  struct choice {
    std::size_t value = 0;
    two_prices least{};
  };

  void decide(std::size_t depth, two_prices least, std::vector<int>& nodes, int count, mesh_set used,
              best_rules& best) {
    ++decisions_;
    if (depth == order_.size()) {
      best.offer(price_program(flow_, mesh_, rules_, prices_, memory_, how_));
      return;
    }
    std::size_t const axis = at(order_[depth]);
    std::vector<choice> choices;
    for (std::size_t v = 0; v < values_[axis].size(); ++v) {
      mesh_set with = used;
      if (!in_order(values_[axis][v], with)) continue;
      choice c{v, least};
      bool admitted = true;
      for (std::size_t f : of_axis_[axis]) {
        int const below = factors_[f].below(nodes[f], static_cast<int>(v));
        if (below < 0) {
          admitted = false;
          break;
        }
        c.least.seconds += factors_[f].least(below).seconds - factors_[f].least(nodes[f]).seconds;
        c.least.bytes += factors_[f].least(below).bytes - factors_[f].least(nodes[f]).bytes;
      }
      if (admitted) choices.push_back(c);
    }
    std::sort(choices.begin(), choices.end(), [](choice const& a, choice const& b) {
      return a.least.seconds != b.least.seconds ? a.least.seconds < b.least.seconds : a.value < b.value;
    });
    for (choice const& c : choices) {
      int const now = count + values_[axis][c.value].size();
      if (!best.would_keep(c.least.seconds, c.least.bytes, now)) continue;
      mesh_set with = used;
      static_cast<void>(in_order(values_[axis][c.value], with));
      rules_[axis] = values_[axis][c.value];
      std::vector<int> before;
      for (std::size_t f : of_axis_[axis]) {
        before.push_back(nodes[f]);
        nodes[f] = factors_[f].below(nodes[f], static_cast<int>(c.value));
      }
      decide(depth + 1, c.least, nodes, now, with, best);
      for (std::size_t i = 0; i < before.size(); ++i) nodes[of_axis_[axis][i]] = before[i];
    }
    rules_[axis] = {};
  }

  program_flow const& flow_;
  program const& p_;
  device_mesh const& mesh_;
  step_settings how_;
  statement_prices prices_;
  tensor_memory memory_;
  axis_rules rules_;
  std::vector<std::vector<bool>> conflicts_;
  std::vector<int> order_;
  std::vector<int> place_;
  std::vector<std::vector<mesh_order>> values_;
  int twin_[max_mesh_axes]{};
  std::vector<price_factor> factors_;
  std::vector<std::vector<std::size_t>> of_axis_;
  std::size_t decisions_ = 0;
};

inline void check_settings(search_settings const& how) {
  require(how.most >= 1, "at least one set of rules is ranked; give most = 1 or more");
  require(how.mesh_axes >= 1, "a mesh has one axis at least; give mesh_axes = 1 or more");
  require(how.node_devices >= 0, "a node has no negative number of devices; give how many, or 0 for one node");
  require(how.memory_bytes >= 0, "memory_bytes is a number from 0; give what a device has, or 0 for the machine's");
  require(how.step.state_bytes >= 0, "state_bytes is a number from 0; Adam keeps 8");
  require(!how.step.training || !how.kept.empty(),
          "nothing is said of what is kept; give kept = {keeping::everything}");
}

}  // namespace detail

/// Returns the best rules on these meshes.
/// @throws ostraka::error for settings, sizes or a machine that are impossible
[[nodiscard]] inline search_result search_rules(program const& p, std::vector<device_mesh> const& meshes,
                                                machine const& on, search_settings const& how = {}) {
  detail::check_settings(how);
  detail::check_meshes(meshes);
  for (device_mesh const& mesh : meshes) detail::check_program(p, mesh.devices());
  detail::check_machine_of(p, meshes, on);
  search_result r;
  r.memory_bytes = how.memory_bytes > 0    ? how.memory_bytes
                   : on.memory_bytes > 0   ? on.memory_bytes
                                           : std::numeric_limits<double>::infinity();
  r.least_memory = std::numeric_limits<double>::infinity();
  r.meshes = meshes.size();
  program_flow const flow(p);
  plan_table plans;
  detail::best_rules best(how.most, r.memory_bytes);
  for (device_mesh const& mesh : meshes)
    for (keeping k : how.step.training ? how.kept : std::vector<keeping>{keeping::everything}) {
      step_settings step = how.step;
      step.kept = k;
      detail::rules_on_mesh on_mesh(flow, mesh, on, step, plans);
      r.least_memory = std::min(r.least_memory, on_mesh.least_memory());
      r.decisions += on_mesh.search(best);
    }
  r.ranked = std::move(best.all());
  r.plans = plans.known.size();
  return r;
}

namespace detail {

// Returns X, Y, …: names that no axis of the program has.
[[nodiscard]] inline std::vector<std::string> free_mesh_names(program const& p, std::size_t count) {
  std::vector<std::string> names;
  for (int round = 1; names.size() < count; ++round)
    for (char const* letter : {"X", "Y", "Z", "U", "V", "W"}) {
      std::string name = letter;
      if (round > 1) name += std::to_string(round);
      if (p.find_axis(name) < 0 && names.size() < count) names.push_back(std::move(name));
    }
  return names;
}

}  // namespace detail

/// The same on any mesh of `devices` devices: X, or X and Y, or more mesh axes, as the settings say.
[[nodiscard]] inline search_result search_rules(program const& p, std::int64_t devices, machine const& on,
                                                search_settings const& how = {}) {
  detail::check_settings(how);
  detail::require(devices >= 1, "there is one device at least; give so many, or more");
  std::vector<std::string> const names = detail::free_mesh_names(p, 6);
  std::vector<device_mesh> meshes;
  for (auto const& sizes : mesh_shapes(devices, std::min(how.mesh_axes, 6), how.node_devices > 0 || on.named > 0))
    meshes.push_back(mesh_on(on, {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(sizes.size())}, sizes,
                             how.node_devices));
  return search_rules(p, meshes, on, how);
}

}  // namespace ostraka::planner
