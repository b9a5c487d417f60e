// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. A mesh of devices simulated by plain loops: it holds the blocks of every device, executes the
/// steps of a plan on them, and counts the elements that they move. It is written from the text of the rules, without
/// the planner's arithmetic of blocks and costs, which it checks: A[I_XY, J] {U_Z} is the block (x·NY + y) of NX·NY of
/// I on device (x, y, z), and a summand of its value.

#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/search/plan_einsum.hpp>

#include "whole_tensor.hpp"

namespace ostraka::testing {

using planner::mesh_set;
using planner::planned_step;

/// The devices, numbered with the first mesh axis major. `error` keeps the first fault as a sentence.
class simulated_mesh {
 public:
  explicit simulated_mesh(extents const& e) : sizes_(e) {
    std::int64_t count = 1;
    for (int m = 0; m < e.mesh_axes; ++m) count *= e.mesh[m];
    for (std::int64_t d = 0; d < count; ++d) {
      device_coordinates at{};
      std::int64_t rest = d;
      for (int m = e.mesh_axes - 1; m >= 0; --m) {
        at[m] = rest % e.mesh[m];
        rest /= e.mesh[m];
      }
      at_.push_back(at);
    }
  }

  std::string error{};     ///< empty as long as nothing was wrong
  std::int64_t moved = 0;  ///< elements, added over all devices

  [[nodiscard]] std::size_t devices() const { return at_.size(); }

  /// Device d of p holds [⌊d·n/p⌋, ⌊(d+1)·n/p⌋) of n indices; d counts the label's mesh axes major first.
  [[nodiscard]] box block_of(spec const& s, std::size_t device) const {
    box b;
    b.rank = s.rank;
    for (int i = 0; i < s.rank; ++i) {
      std::int64_t d = 0;
      std::int64_t p = 1;
      for (int k = 0; k < s.over[i].size(); ++k) {
        p *= sizes_.mesh[s.over[i][k]];
        d *= sizes_.mesh[s.over[i][k]];
        d += at_[device][s.over[i][k]];
      }
      std::int64_t const n = sizes_.label[s.label[i]];
      b.begin[i] = d * n / p;
      b.end[i] = (d + 1) * n / p;
    }
    return b;
  }

  /// Elements that all devices hold together.
  [[nodiscard]] std::int64_t held(spec const& s) const {
    std::int64_t n = 0;
    for (std::size_t d = 0; d < devices(); ++d) n += block_of(s, d).size();
    return n;
  }

  /// Number of devices along a set of mesh axes.
  [[nodiscard]] std::uint64_t group_size(mesh_set axes) const {
    std::uint64_t n = 1;
    for (int m = 0; m < sizes_.mesh_axes; ++m)
      if (axes.contains(m)) n *= static_cast<std::uint64_t>(sizes_.mesh[m]);
    return n;
  }

  /// Elements that devices need under `to` and do not hold under `from`: any exchange has to move these.
  [[nodiscard]] std::int64_t missing(spec const& from, spec const& to) const {
    std::int64_t n = 0;
    for (std::size_t d = 0; d < devices(); ++d)
      n += block_of(to, d).size() - block_of(to, d).common(block_of(from, d)).size();
    return n;
  }

  /// Blocks of a tensor: copies where it is replicated, random summands that add up where it is partial.
  [[nodiscard]] sharded_tensor scatter(whole_tensor const& t, spec const& s, std::uint64_t seed) const {
    sharded_tensor r = empty(s);
    for (std::size_t d = 0; d < devices(); ++d)
      for_each(r.block[d], [&](position const& at) {
        std::uint64_t const place = seed * 1000003 + t.offset(at);
        if (along(s.partial, d) != 0) {
          r.device[d][at] = noise(place, along(s.partial, d));
        } else {
          std::int64_t rest = t[at];
          for (std::uint64_t other = 1; other < group_size(s.partial); ++other) rest -= noise(place, other);
          r.device[d][at] = rest;
        }
      });
    return r;
  }

  /// Executes a step on the blocks of one tensor, every device with the devices that differ from it along the step's
  /// axes only.
  void execute(planned_step const& s, sharded_tensor& t) {
    expect(s.from == t.sharding, "the step does not start where the one before it ended");
    expect(s.from.rank == s.to.rank, "the step changes the rank");
    expect((s.from.splits() & s.from.partial).empty() && (s.to.splits() & s.to.partial).empty(),
           "a mesh axis both divides and holds sums");
    if (!error.empty()) return;
    sharded_tensor r = empty(s.to);
    mesh_set const reduced = s.from.partial - s.to.partial;
    mesh_set const made = s.to.partial - s.from.partial;
    switch (s.kind) {
      case step::slice:
        expect(reduced.empty() && made.empty(), "a slice changes what is partial");
        for (std::size_t d = 0; d < devices(); ++d) take(t, r, d, {d});
        break;
      case step::mask:
      case step::zero_pad:
        expect(made == s.axes && reduced.empty(), "zeros along other mesh axes than those that become partial");
        for (std::size_t d = 0; d < devices(); ++d) {
          expect(s.kind == step::zero_pad || r.block[d] == t.block[d], "mask changes the block");
          bool const kept = s.kind == step::zero_pad || along(made, d) == 0;
          for_each(r.block[d], [&](position const& at) {
            r.device[d][at] = kept && t.block[d].contains(at) ? t.device[d][at] : 0;
          });
        }
        break;
      case step::all_gather:
      case step::all_to_all:
      case step::block_exchange:
        expect(reduced.empty() && made.empty(), "an exchange changes what is partial");
        expect((s.axes & s.from.partial).empty(), "an exchange mixes summands");
        for (std::size_t d = 0; d < devices(); ++d) {
          auto const group = group_of(s.axes, d);
          if (d == group[0] && s.kind != step::block_exchange) expect_collective(s.kind, t, r, group);
          moved += take(t, r, d, group);
        }
        break;
      case step::all_reduce:
      case step::reduce_scatter:
        expect(reduced == s.axes && made.empty(), "a reduction among other devices than those that hold the summands");
        for (std::size_t d = 0; d < devices(); ++d) {
          auto const group = group_of(s.axes, d);
          if (d == group[0]) expect_collective(s.kind, t, r, group);
          add(t, r, d, group);
          auto const others = static_cast<std::int64_t>(group.size()) - 1;
          if (s.kind == step::reduce_scatter)
            moved += others * r.block[d].size();  // each other device sends it its summands
          if (s.kind == step::all_reduce && d == group[0]) moved += 2 * others * t.block[d].size();
        }
        break;
      case step::contract:
      case step::ring_contraction:
        expect(false, "a contraction is no step of one tensor");
        break;
    }
    t = std::move(r);
  }

  /// The local product: every device multiplies its blocks and sums over the labels that `result` lacks.
  [[nodiscard]] sharded_tensor contract(std::vector<sharded_tensor> const& operands, spec const& result) {
    sharded_tensor r = empty(result);
    for (std::size_t d = 0; d < devices(); ++d) {
      box labels;
      labels.rank = sizes_.labels;
      numbered<bool, max_rank> seen{};
      for (int l = 0; l < sizes_.labels; ++l) labels.end[l] = 1;
      for (sharded_tensor const& t : operands)
        for (int i = 0; i < t.sharding.rank; ++i) {
          int const l = t.sharding.label[i];
          expect(!seen[l] || (labels.begin[l] == t.block[d].begin[i] && labels.end[l] == t.block[d].end[i]),
                 "operands hold different indices of a label");
          seen[l] = true;
          labels.begin[l] = t.block[d].begin[i];
          labels.end[l] = t.block[d].end[i];
        }
      for (int i = 0; i < result.rank; ++i) {
        int const l = result.label[i];
        expect(labels.begin[l] == r.block[d].begin[i] && labels.end[l] == r.block[d].end[i],
               "the result holds other indices than the operands");
      }
      if (!error.empty()) return r;
      for_each(r.block[d], [&](position const& at) { r.device[d][at] = 0; });
      for_each(labels, [&](position const& at) {
        std::int64_t product = 1;
        for (sharded_tensor const& t : operands) product *= t.device[d][picked(t.sharding, at)];
        r.device[d][picked(result, at)] += product;
      });
    }
    return r;
  }

  /// Checks that the devices hold `t` under `wanted`: the summands of every block add up to it, and replicas are equal.
  void expect_holds(sharded_tensor const& held, whole_tensor const& t, spec const& wanted) {
    expect(held.sharding == wanted, "the last step does not end in the requested sharding");
    if (!error.empty()) return;
    mesh_set const replicated = mesh_set::first(sizes_.mesh_axes) - wanted.uses();
    for (std::size_t d = 0; d < devices(); ++d) {
      auto const summands = group_of(wanted.partial, d);
      std::size_t const original = group_of(replicated, d)[0];
      for_each(block_of(wanted, d), [&](position const& at) {
        std::int64_t sum = 0;
        for (std::size_t other : summands) sum += held.device[other][at];
        expect(sum == t[at], "the value is wrong");
        expect(held.device[d][at] == held.device[original][at], "replicas differ");
      });
    }
  }

  void expect(bool fine, char const* sentence) {
    if (!fine && error.empty()) error = sentence;
  }

 private:
  static constexpr std::int64_t poison = std::int64_t{1} << 40;

  [[nodiscard]] sharded_tensor empty(spec const& s) const {
    sharded_tensor t;
    t.sharding = s;
    whole_tensor nothing(s, sizes_);
    for (std::int64_t& v : nothing.value) v = poison;
    t.device.assign(devices(), nothing);
    for (std::size_t d = 0; d < devices(); ++d) t.block.push_back(block_of(s, d));
    return t;
  }

  [[nodiscard]] static position picked(spec const& s, position const& labels) {
    position at{};
    for (int i = 0; i < s.rank; ++i) at[i] = labels[s.label[i]];
    return at;
  }

  // The device's number among those along `axes`.
  [[nodiscard]] std::uint64_t along(mesh_set axes, std::size_t d) const {
    std::uint64_t n = 0;
    for (int m = 0; m < sizes_.mesh_axes; ++m)
      if (axes.contains(m)) n = n * static_cast<std::uint64_t>(sizes_.mesh[m]) + static_cast<std::uint64_t>(at_[d][m]);
    return n;
  }

  [[nodiscard]] std::vector<std::size_t> group_of(mesh_set axes, std::size_t d) const {
    std::vector<std::size_t> group;
    for (std::size_t other = 0; other < devices(); ++other) {
      bool member = true;
      for (int m = 0; m < sizes_.mesh_axes; ++m) member = member && (axes.contains(m) || at_[other][m] == at_[d][m]);
      if (member) group.push_back(other);
    }
    return group;
  }

  // Device d fills its new block from its own old one or, failing that, from one of its group's. Returns the number of
  // elements that it received.
  std::int64_t take(sharded_tensor const& from, sharded_tensor& to, std::size_t d,
                    std::vector<std::size_t> const& group) {
    std::int64_t received = 0;
    for_each(to.block[d], [&](position const& at) {
      if (from.block[d].contains(at)) {
        to.device[d][at] = from.device[d][at];
        return;
      }
      ++received;
      for (std::size_t other : group)
        if (from.block[other].contains(at)) {
          to.device[d][at] = from.device[other][at];
          return;
        }
      expect(false, "a device needs an element that no device of its group holds");
    });
    return received;
  }

  // Device d adds the summands of its group.
  void add(sharded_tensor const& from, sharded_tensor& to, std::size_t d, std::vector<std::size_t> const& group) {
    for_each(to.block[d], [&](position const& at) {
      to.device[d][at] = 0;
      for (std::size_t other : group) {
        expect(from.block[other].contains(at), "a summand is on no device of the group");
        to.device[d][at] += from.device[other][at];
      }
    });
  }

  // Checks that it is the collective that its name says.
  void expect_collective(step kind, sharded_tensor const& from, sharded_tensor const& to,
                         std::vector<std::size_t> const& group) {
    std::int64_t before = 0;
    std::int64_t after = 0;
    bool same_before = true;
    bool same_after = true;
    bool disjoint = true;
    for (std::size_t d : group) {
      before += from.block[d].size();
      after += to.block[d].size();
      same_before = same_before && from.block[d] == from.block[group[0]];
      same_after = same_after && to.block[d] == to.block[group[0]];
      for (std::size_t other : group)
        disjoint = disjoint && (other == d || to.block[d].common(to.block[other]).size() == 0);
    }
    std::int64_t const first_before = from.block[group[0]].size();
    std::int64_t const first_after = to.block[group[0]].size();
    if (kind == step::all_gather)
      expect(same_after && before == first_after, "all_gather: the blocks of the group are not the parts of one block");
    if (kind == step::all_to_all)
      expect(before == after, "all_to_all: the group does not hold as much after it as before");
    if (kind == step::all_reduce)
      expect(same_before && same_after && first_before == first_after,
             "all_reduce: the group's blocks are not the same");
    if (kind == step::reduce_scatter)
      expect(same_before && disjoint && after <= first_before,
             "reduce_scatter: the new blocks are not parts of the old one");
  }

  extents sizes_;
  std::vector<device_coordinates> at_{};
};

}  // namespace ostraka::testing
