// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A cache of the plans of a program's products and moves. The planner of the library's operations makes them
/// (search/plan_einsum.hpp, reshard/plan_reshard.hpp). A search over thousands of rule sets contains the same few
/// hundred products many times. Labels and mesh axes are numbered by first appearance, as types number them, so the
/// names of a product's axes do not matter.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ostraka/plan/program/program.hpp>
#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>
#include <ostraka/plan/spec/cost.hpp>

namespace ostraka::planner {

/// A step that moves data: the mean number of elements that a device sends.
struct priced_move {
  step kind = step::all_gather;
  mesh_set axes{};
  double elements = 0;
};

/// The parts of a plan that prices need.
struct priced_plan {
  bool feasible = true;
  std::vector<priced_move> moves;
  double flops = 0;      ///< on the device with the largest blocks
  double held = 0;       ///< elements of intermediates of moves and products, without operands and result
  bool gathers = false;  ///< true if a divided label becomes whole
};

/// The plans made so far, for all meshes: sizes are part of the key.
struct plan_table {
  std::unordered_map<std::string, priced_plan> known;
  std::size_t questions = 0;
};

class plan_cache {
 public:
  /// @pre `extents` has all logical axes and `mesh` all mesh axes
  plan_cache(plan_table& table, std::vector<std::int64_t> extents, std::vector<std::int64_t> mesh)
      : table_(table), extents_(std::move(extents)), mesh_(std::move(mesh)) {}

  /// Plans result = the product of the operands, summed over labels that the result lacks.
  priced_plan einsum(std::vector<spec> const& operands, spec const& result) {
    numbering n(*this);
    einsum_problem p;
    for (spec const& s : operands) p.operands.push_back(n.numbered(s));
    p.result = n.numbered(result);
    p.sizes = n.sizes;
    return find(n, p, [&] { return plan_einsum(p); });
  }

  /// Plans the same tensor under another sharding.
  /// @pre the same labels in the same order
  priced_plan reshard(spec const& from, spec const& to) {
    if (from == to) return {};
    numbering n(*this);
    einsum_problem p;
    p.operands.push_back(n.numbered(from));
    p.result = n.numbered(to);
    p.sizes = n.sizes;
    p.directions = -1;  // no einsum has this value, so the key differs
    return find(n, p, [&] {
      einsum_plan plan;
      plan.operands = p.operands;
      plan.result = p.result;
      plan.feasible = true;
      for (planned_step const& s : plan_reshard(p.operands[0], p.result, p.sizes)) plan.steps.push_back(s);
      return plan;
    });
  }

 private:
  // Numbers labels and mesh axes by first appearance.
  struct numbering {
    explicit numbering(plan_cache const& c) : cache(c) {}

    spec numbered(spec const& s) {
      spec r;
      r.kind = s.kind;
      for (int i = 0; i < s.rank; ++i) {
        mesh_order over;
        for (int k = 0; k < s.over[i].size(); ++k) over.push_back(mesh_axis(s.over[i][k]));
        r.push_back(label(s.label[i]), over);
      }
      for (int m = 0; m < static_cast<int>(cache.mesh_.size()); ++m)
        if (s.partial.contains(m)) r.partial.insert(mesh_axis(m));
      return r;
    }
    int label(int l) {
      for (int i = 0; i < sizes.labels; ++i)
        if (labels[i] == l) return i;
      labels[sizes.labels] = l;
      sizes.label[sizes.labels] = cache.extents_[static_cast<std::size_t>(l)];
      return sizes.labels++;
    }
    int mesh_axis(int m) {
      for (int i = 0; i < sizes.mesh_axes; ++i)
        if (mesh_axes[i] == m) return i;
      mesh_axes[sizes.mesh_axes] = m;
      sizes.mesh[sizes.mesh_axes] = cache.mesh_[static_cast<std::size_t>(m)];
      return sizes.mesh_axes++;
    }

    plan_cache const& cache;
    extents sizes{};
    int labels[max_labels]{};
    int mesh_axes[max_mesh_axes]{};
  };

  static void write(std::string& key, std::uint64_t number) {
    key.append(reinterpret_cast<char const*>(&number), sizeof(number));
  }
  static void write(std::string& key, spec const& s) {
    write(key, static_cast<std::uint64_t>(s.rank));
    for (int i = 0; i < s.rank; ++i) {
      write(key, static_cast<std::uint64_t>(s.label[i]));
      write(key, s.over[i].code);
    }
    write(key, s.partial.bits);
  }

  template <class Make>
  priced_plan find(numbering const& n, einsum_problem const& p, Make const& make) {
    ++table_.questions;
    std::string key;
    write(key, static_cast<std::uint64_t>(p.operands.size() + (p.directions < 0 ? 100 : 0)));
    for (spec const& s : p.operands) write(key, s);
    write(key, p.result);
    for (int l = 0; l < p.sizes.labels; ++l) write(key, static_cast<std::uint64_t>(p.sizes.label[l]));
    for (int m = 0; m < p.sizes.mesh_axes; ++m) write(key, static_cast<std::uint64_t>(p.sizes.mesh[m]));
    auto const [at, is_new] = table_.known.try_emplace(key);
    if (is_new) at->second = priced(make(), p.sizes);
    priced_plan found = at->second;
    for (priced_move& move : found.moves) {
      mesh_set axes;
      for (int m = 0; m < p.sizes.mesh_axes; ++m)
        if (move.axes.contains(m)) axes.insert(n.mesh_axes[m]);
      move.axes = axes;
    }
    return found;
  }

  // On a few devices, counts moved blocks one by one; on many, uses their mean.
  static double moved(planned_step const& s, extents const& e) {
    bool const exchanges = s.kind == step::all_to_all || s.kind == step::block_exchange;
    return exchanges && e.devices() > most_devices_counted ? ideal_exchange(s.from, s.to, e)
                                                           : static_cast<double>(elements_moved(s, e));
  }

  static priced_plan priced(einsum_plan const& plan, extents const& e) {
    priced_plan p;
    p.feasible = plan.feasible;
    if (!plan.feasible) return p;
    p.flops = static_cast<double>(plan.flops(e));
    for (planned_step const& s : plan.steps) {
      p.gathers = p.gathers || s.kind == step::all_gather;
      if (!(s.to == plan.result && s.operand == the_result)) p.held += static_cast<double>(largest_block(s.to, e));
      if (communicates(s.kind)) p.moves.push_back({s.kind, s.axes, moved(s, e) / static_cast<double>(e.devices())});
    }
    return p;
  }

  plan_table& table_;
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> mesh_;
};

}  // namespace ostraka::planner
