// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. The least that an operation can move, found without the planner: a graph of all shardings of a
/// tensor, whose edges are the moves of the rules with their volumes, and all products without communication. Volumes
/// are counted on blocks by loops over the devices, added over all devices. @pre extents are multiples of all mesh
/// sizes together
///
///     move                                                    volume, N devices take part
///     block exchange, any to any (slice, gather, all-to-all)  what the devices need and do not have
///     all-reduce of a set of mesh axes           P → R        2(N−1)/N of the blocks
///     reduce-scatter of a set                    P → S(l)     N−1 times the new blocks, parts of the old ones
///     mask                                       R → P        0
///     zero-pad from a minor end                  S(l) → P     0

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <support/simulated_mesh.hpp>

#include "plan/every_spec.hpp"

namespace ostraka::testing {

inline constexpr std::int64_t unreachable = std::int64_t{1} << 50;

/// The cheapest sequences of moves between all shardings of one tensor. `slices_at_once`: a reduce-scatter may also
/// slice along other mesh axes, as in a reshard by itself, but not in an einsum.
class move_graph {
 public:
  move_graph(labels const& dims, extents const& e, bool makes_partial, bool slices_at_once = false)
      : nodes_(every_spec(dims, e.mesh_axes)), sizes_(e) {
    simulated_mesh const mesh(e);
    std::size_t const n = nodes_.size();
    distance_.assign(n * n, unreachable);
    via_.assign(n * n, n);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        distance_[a * n + b] = makes_partial || (nodes_[b].partial - nodes_[a].partial).empty()
                                   ? volume_of_move(mesh, nodes_[a], nodes_[b], slices_at_once)
                                   : unreachable;
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
          if (distance_[a * n + k] + distance_[k * n + b] < distance_[a * n + b]) {
            distance_[a * n + b] = distance_[a * n + k] + distance_[k * n + b];
            via_[a * n + b] = k;
          }
  }

  [[nodiscard]] std::vector<spec> const& nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t volume(std::size_t from, std::size_t to) const {
    return distance_[from * nodes_.size() + to];
  }
  [[nodiscard]] std::size_t find(spec const& s) const {
    return static_cast<std::size_t>(std::find(nodes_.begin(), nodes_.end(), s) - nodes_.begin());
  }

  /// The shardings on the way, for a reader.
  [[nodiscard]] std::string way(std::size_t from, std::size_t to, std::string const& names) const {
    std::size_t const k = via_[from * nodes_.size() + to];
    if (k == nodes_.size())
      return text_of(nodes_[from], names) + (from == to ? "" : " -> " + text_of(nodes_[to], names));
    return way(from, k, names) + " => " + way(k, to, names);
  }

  /// Volume of one move, `unreachable` if it takes more than one.
  [[nodiscard]] static std::int64_t volume_of_move(simulated_mesh const& mesh, spec const& from, spec const& to,
                                                   bool slices_at_once = false) {
    mesh_set const reduced = from.partial - to.partial;
    mesh_set const made = to.partial - from.partial;
    if (reduced.empty() && made.empty()) return mesh.missing(from, to);
    if (!reduced.empty() && !made.empty()) return unreachable;
    if (!reduced.empty()) {
      std::int64_t const n = static_cast<std::int64_t>(mesh.group_size(reduced));
      if (from.splits() == to.splits())
        return same_division(from, to) ? 2 * (n - 1) * (mesh.held(from) / n) : unreachable;
      mesh_set const divided = to.splits() - from.splits();
      bool parts =
          slices_at_once ? (reduced - divided).empty() : divided == reduced;  // each device along `reduced` has its own
      for (std::size_t d = 0; d < mesh.devices() && parts; ++d)
        parts = mesh.block_of(to, d).common(mesh.block_of(from, d)) == mesh.block_of(to, d);
      return parts ? (n - 1) * mesh.held(to) : unreachable;
    }
    // A mask, or a label that is divided less at its minor end.
    int differing = 0;
    bool minor_end = true;
    for (int i = 0; i < from.rank; ++i) {
      if (from.over[i] == to.over[i]) continue;
      ++differing;
      minor_end = minor_end && from.over[i].size() == to.over[i].size() + made.count();
      for (int k = 0; minor_end && k < from.over[i].size(); ++k)
        minor_end = k < to.over[i].size() ? from.over[i][k] == to.over[i][k] : made.contains(from.over[i][k]);
    }
    return differing > 1 || !minor_end ? unreachable : 0;
  }

 private:
  [[nodiscard]] static bool same_division(spec const& a, spec const& b) {
    for (int i = 0; i < a.rank; ++i)
      if (a.over[i] != b.over[i]) return false;
    return true;
  }

  std::vector<spec> nodes_;
  extents sizes_;
  std::vector<std::int64_t> distance_{};
  std::vector<std::size_t> via_{};
};

/// The sharding of the product of operands as they are, if they multiply without communication: the table of the rules
/// per mesh axis, and the same order of mesh axes on shared labels.
inline std::optional<spec> free_product(std::vector<spec> const& operands, labels const& result, extents const& e) {
  spec r;
  for (int l : result) r.push_back(l);
  std::vector<std::optional<mesh_order>> by(planner::max_labels);
  for (spec const& s : operands)
    for (int i = 0; i < s.rank; ++i) {
      auto& o = by[static_cast<std::size_t>(s.label[i])];
      if (o && *o != s.over[i]) return std::nullopt;
      o = s.over[i];
    }
  for (int m = 0; m < e.mesh_axes; ++m) {
    int partial = 0;
    int dividing = -1;
    int divided_labels = 0;
    for (spec const& s : operands) partial += s.partial.contains(m) ? 1 : 0;
    for (int l = 0; l < e.labels; ++l)
      if (by[static_cast<std::size_t>(l)] && by[static_cast<std::size_t>(l)]->axes().contains(m)) {
        dividing = l;
        ++divided_labels;
      }
    if (partial + divided_labels > 1) return std::nullopt;
    if (partial == 1 || (dividing >= 0 && r.find(dividing) < 0)) r.partial.insert(m);
  }
  for (int i = 0; i < r.rank; ++i) r.over[i] = *by[static_cast<std::size_t>(r.label[i])];
  return r;
}

/// Multiplications of all devices together for factors as they are.
inline std::int64_t work_of(std::vector<spec> const& factors, extents const& e) {
  std::int64_t work = 1;
  for (int l = 0; l < e.labels; ++l)
    if (std::any_of(factors.begin(), factors.end(), [&](spec const& s) { return s.find(l) >= 0; })) work *= e.label[l];
  for (int m = 0; m < e.mesh_axes; ++m)
    if (std::none_of(factors.begin(), factors.end(), [&](spec const& s) { return s.splits().contains(m); }))
      work *= e.mesh[m];
  return work;
}

/// The number of multiplications that count as much as one moved element by default.
inline constexpr std::int64_t default_weight = 1024;

/// Mesh axes along which work on these labels is worth dividing by default: those that divide one of them in a named
/// tensor, an operand or the result.
inline mesh_set worth_dividing(std::vector<int> const& work_labels, std::vector<spec> const& named) {
  mesh_set axes;
  for (spec const& s : named)
    for (int l : work_labels)
      if (s.find(l) >= 0) axes = axes | s.over[s.find(l)].axes();
  return axes;
}

/// Multiplications of all devices together, as the default price counts them: a mesh axis along which dividing is not
/// worth it counts as not dividing.
inline std::int64_t priced_work(std::vector<int> const& work_labels, mesh_set dividing, mesh_set worth,
                                extents const& e) {
  std::int64_t work = 1;
  for (int l : work_labels) work *= e.label[l];
  for (int m = 0; m < e.mesh_axes; ++m)
    if (!dividing.contains(m) || !worth.contains(m)) work *= e.mesh[m];
  return work;
}

inline mesh_set splits_of(std::vector<spec> const& factors) {
  mesh_set all;
  for (spec const& s : factors) all = all | s.splits();
  return all;
}

/// All ways to multiply, and the cheapest moves to and from them.
class brute_force {
 public:
  brute_force(einsum_labels const& names, extents const& e) : names_(names.names), sizes_(e) {
    for (auto const& dims : names.operands) tensors_.emplace_back(dims, e, false);
    tensors_.emplace_back(names.result, e, true);
    for (int l = 0; l < e.labels; ++l) labels_.push_back(l);
    collect(names, e, {}, {});
  }

  [[nodiscard]] std::vector<move_graph> const& tensors() const { return tensors_; }

  /// The cost of a way: its price by the default balance, then its moves and multiplications.
  using cost = std::array<std::int64_t, 3>;

  /// The least for operands (and last the result) in these shardings.
  [[nodiscard]] cost least(std::vector<std::size_t> const& which) const {
    cost best{unreachable, unreachable, unreachable};
    mesh_set const axes = worth(which);
    for (std::size_t p = 0; p < products_.size(); ++p) best = std::min(best, cost_of(p, which, axes));
    return best;
  }

  /// The least weight · volume + work.
  [[nodiscard]] std::int64_t least_price(std::vector<std::size_t> const& which, std::int64_t weight) const {
    std::int64_t best = unreachable;
    for (std::size_t p = 0; p < products_.size(); ++p) {
      std::int64_t const v = volume(products_[p], which);
      if (v < unreachable) best = std::min(best, weight * v + work_[p]);
    }
    return best;
  }

  /// A cheapest way, for a reader.
  [[nodiscard]] std::string way(std::vector<std::size_t> const& which) const {
    mesh_set const axes = worth(which);
    std::size_t number = 0;
    for (std::size_t p = 0; p < products_.size(); ++p)
      if (cost_of(p, which, axes) < cost_of(number, which, axes)) number = p;
    std::vector<std::size_t> const& best = products_[number];
    std::string t =
        "price " + std::to_string(cost_of(number, which, axes)[0]) + ", volume " + std::to_string(volume(best, which));
    for (std::size_t k = 0; k + 1 < tensors_.size(); ++k)
      t += "\n    operand: " + tensors_[k].way(which[k], best[k], names_);
    return t + "\n    result: " + tensors_.back().way(best.back(), which.back(), names_);
  }

 private:
  void collect(einsum_labels const& names, extents const& e, std::vector<spec> operands,
               std::vector<std::size_t> which) {
    std::size_t const k = operands.size();
    if (k + 1 == tensors_.size()) {
      if (auto const r = free_product(operands, names.result, e)) {
        which.push_back(tensors_[k].find(*r));
        products_.push_back(which);
        work_.push_back(work_of(operands, e));
        dividing_.push_back(splits_of(operands));
      }
      return;
    }
    for (std::size_t n = 0; n < tensors_[k].nodes().size(); ++n) {
      auto more = operands;
      more.push_back(tensors_[k].nodes()[n]);
      auto chosen = which;
      chosen.push_back(n);
      collect(names, e, more, chosen);
    }
  }

  [[nodiscard]] std::int64_t volume(std::vector<std::size_t> const& product,
                                    std::vector<std::size_t> const& which) const {
    std::int64_t v = tensors_.back().volume(product.back(), which.back());
    for (std::size_t k = 0; k + 1 < tensors_.size(); ++k) v += tensors_[k].volume(which[k], product[k]);
    return v;
  }

  // Mesh axes worth dividing by: every label is one of the product's.
  [[nodiscard]] mesh_set worth(std::vector<std::size_t> const& which) const {
    std::vector<spec> named;
    for (std::size_t k = 0; k < tensors_.size(); ++k) named.push_back(tensors_[k].nodes()[which[k]]);
    return worth_dividing(labels_, named);
  }

  [[nodiscard]] cost cost_of(std::size_t p, std::vector<std::size_t> const& which, mesh_set worth) const {
    std::int64_t const v = volume(products_[p], which);
    if (v >= unreachable) return {unreachable, unreachable, unreachable};
    return {default_weight * v + priced_work(labels_, dividing_[p], worth, sizes_), v, work_[p]};
  }

  std::string names_;
  extents sizes_;
  std::vector<move_graph> tensors_{};
  std::vector<std::vector<std::size_t>> products_{};
  std::vector<std::int64_t> work_{};
  std::vector<mesh_set> dividing_{};
  std::vector<int> labels_{};
};

}  // namespace ostraka::testing
