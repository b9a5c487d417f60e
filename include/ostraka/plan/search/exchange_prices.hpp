// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The volumes of exchanges between two shardings of one tensor, for a search that needs thousands of them:
/// the numbers of ideal_exchange (spec/cost.hpp) on layouts. A volume that has to be counted device by device, because
/// sizes of mesh axes differ, is counted once per pattern of mesh axes, and cached.

#include <cstdint>

#include <ostraka/plan/search/layout.hpp>
#include <ostraka/plan/spec/cost.hpp>

namespace ostraka::planner::detail {

// Volumes of exchanges; those that are counted device by device are cached.
class exchange_prices {
 public:
  constexpr explicit exchange_prices(extents const& e) : e_(e) {
    for (int m = 1; m < e.mesh_axes; ++m) alike_ = alike_ && e.mesh[m] == e.mesh[0];
  }

  // The number of elements that devices need under `to` and lack under `from`, for a tensor of `whole` elements:
  // ideal_exchange of specs. If it is above `bound`, the function may return `unbounded`.
  // @pre both partial over the same mesh axes
  [[gnu::cold]] constexpr double operator()(layout from, layout to, double whole, double bound) {
    if (from == to) return 0;
    extents const& e = e_;  // costs the compiler fewer steps in the loop
    if (e.mesh_axes == 1) {  // a slice, a gather, or an all-to-all
      double const n = static_cast<double>(e.mesh[0]);
      return is_replicated(from, 0) ? 0 : is_replicated(to, 0) ? whole * n - whole : whole - whole / n;
    }
    double everywhere = whole;
    double new_blocks = 1;
    double blocks = 1;       // each device keeps one of this many blocks
    std::uint32_t lost = 0;  // labels that lose a mesh axis or a position: bit 1 + l is label l
    std::uint32_t given = 0;  // labels that gain one
    for (int m = 0; m < e.mesh_axes; ++m) {
      double const size = static_cast<double>(e.mesh[m]);
      int const f = static_cast<int>(from >> (8 * m + 3) & 31);  // 1 + label, or 0
      int const t = static_cast<int>(to >> (8 * m + 3) & 31);
      everywhere *= size;
      if (t != 0) new_blocks *= size;
      if (f != 0) blocks *= size;
      if (((from ^ to) >> 8 * m & 255) == 0) continue;
      if (t != 0) blocks *= size;
      lost |= std::uint32_t{1} << f;
      given |= std::uint32_t{1} << t;
    }
    double const held = everywhere / new_blocks;
    if ((lost & given & ~std::uint32_t{1}) == 0) return held - everywhere / blocks;
    return crossing(from, to, lost & given & ~std::uint32_t{1}, everywhere, held, bound);
  }

 private:
  // The same if the labels in `resharded` lose some mesh axes and gain others, so that their two partitions cross. All
  // devices hold `held` elements under `to`, and `everywhere` if each holds the whole tensor.
  [[gnu::cold]] constexpr double crossing(layout from, layout to, std::uint32_t resharded, double everywhere,
                                          double held, double bound) {
    extents const& e = e_;
    double blocks = 1;
    double independent = 1;  // for crossing partitions: the same if no mesh axis occurs twice
    double finer = 1;        // for crossing partitions: an upper bound
    resharded_label labels[max_mesh_axes]{};
    int count = 0;
    std::uint32_t axes = 0;
    bool shared = false;
    for (int m = 0; m < e.mesh_axes; ++m) {
      double const size = static_cast<double>(e.mesh[m]);
      layout const f = from >> (8 * m + 3) & 31;  // 1 + label, or 0
      layout const t = to >> (8 * m + 3) & 31;
      if (f != 0 && (resharded >> f & 1) == 0) blocks *= size;
      if (t != 0 && (resharded >> t & 1) == 0 && ((from ^ to) >> 8 * m & 255) != 0) blocks *= size;
    }
    for (int l = 0; resharded >> (l + 1) != 0; ++l) {
      if ((resharded >> (l + 1) & 1) == 0) continue;
      resharded_label c{order_on(from, l, e), order_on(to, l, e), 1, 1};
      while ((c.from.code & 15) == (c.to.code & 15)) {
        blocks *= static_cast<double>(e.mesh[(c.from.code & 15) - 1]);
        c.from.code >>= 4;
        c.to.code >>= 4;
      }
      c.from_parts = e.ways(c.from);
      c.to_parts = e.ways(c.to);
      std::uint32_t const from_axes = c.from.axes().bits;
      std::uint32_t const to_axes = c.to.axes().bits;
      independent *= static_cast<double>(c.from_parts * c.to_parts);
      finer *= static_cast<double>(c.from_parts > c.to_parts ? c.from_parts : c.to_parts);
      shared = shared || (from_axes & to_axes) != 0 || (axes & (from_axes | to_axes)) != 0;
      axes |= from_axes | to_axes;
      labels[count++] = c;
    }
    if (!shared) return held - everywhere / (blocks * independent);
    double const least = held - everywhere / (blocks * finer);  // if every device already held the finer of its blocks
    if (least > bound * with_rounding) return unbounded;
    if (e.ways(mesh_set{axes}) > most_devices_counted) return held - everywhere / (blocks * independent);
    return held - everywhere / blocks * counted(labels, count, {axes});
  }

  // The mean overlap of blocks that change places. It does not depend on the labels of the blocks.
  [[gnu::cold]] constexpr double counted(resharded_label const (&c)[max_mesh_axes], int count, mesh_set axes) {
    if (alike_ || count > most_resharded || cached_ == capacity) return mean_overlap(c, count, axes, e_);
    std::uint32_t key[2 * most_resharded]{};
    for (int i = 0; i < count; ++i) {
      key[2 * i] = c[i].from.code;
      key[2 * i + 1] = c[i].to.code;
    }
    for (int i = 0; i < cached_; ++i)
      if (key_[i][0] == key[0] && key_[i][1] == key[1] && key_[i][2] == key[2] && key_[i][3] == key[3])
        return value_[i];
    for (int i = 0; i < 2 * most_resharded; ++i) key_[cached_][i] = key[i];
    return value_[cached_++] = mean_overlap(c, count, axes, e_);
  }

  static constexpr double with_rounding = 1 + 1e-9;  // rounding may lift a volume above the bound
  static constexpr int most_resharded = 2;
  static constexpr int capacity = 64;
  extents const& e_;
  int cached_ = 0;
  bool alike_ = true;  // all mesh axes have one size, so nothing is counted device by device
  std::uint32_t key_[capacity][2 * most_resharded];
  double value_[capacity];
};

}  // namespace ostraka::planner::detail
