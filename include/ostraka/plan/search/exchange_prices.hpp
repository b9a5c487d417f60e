// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The volumes of exchanges between two shardings of one tensor, for a search that needs thousands: the
/// numbers of ideal_exchange (spec/cost.hpp) on layouts. A volume that has to be counted device by device is counted
/// once per pattern of mesh axes, and cached.

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

  // The number of elements that devices need under `to` and do not have under `from`, for a tensor of `whole` elements:
  // ideal_exchange of specs. If it is above `bound`, the function may return any number above `bound`.
  // @pre both partial over the same mesh axes
  [[gnu::cold]] constexpr double operator()(layout from, layout to, double whole, double bound) {
    if (from == to) return 0;
    if (e_.mesh_axes == 1) {  // a slice, a gather, or an all-to-all
      double const n = static_cast<double>(e_.mesh[0]);
      return is_replicated(from, 0) ? 0 : is_replicated(to, 0) ? whole * n - whole : whole - whole / n;
    }
    layout const labels_from = labels_of(from);
    layout const labels_to = labels_of(to);
    double everywhere = whole;
    double new_blocks = 1;
    double blocks = 1;       // each device keeps one of this many blocks
    double independent = 1;  // where partitions cross: the same if mesh axes play one part only
    double finer = 1;        // where partitions cross: at most
    std::uint32_t done = 0;
    resharded_label resharded[max_mesh_axes]{};
    int count = 0;
    std::uint32_t axes = 0;
    bool shared = false;
    for (int m = 0; m < e_.mesh_axes; ++m) {
      double const size = static_cast<double>(e_.mesh[m]);
      everywhere *= size;
      int const f = static_cast<int>(labels_from >> 8 * m & 255);  // 1 + label
      int const t = static_cast<int>(labels_to >> 8 * m & 255);
      if (t != 0) new_blocks *= size;
      for (int l = f;; l = t) {
        if (l != 0 && (done >> l & 1) == 0) {
          done |= std::uint32_t{1} << l;
          resharded_label c{order_on(from, l - 1, e_), order_on(to, l - 1, e_), 1, 1};
          while (c.from.code != 0 && (c.from.code & 15) == (c.to.code & 15)) {
            blocks *= static_cast<double>(e_.mesh[(c.from.code & 15) - 1]);
            c.from.code >>= 4;
            c.to.code >>= 4;
          }
          std::uint32_t from_axes = 0;
          std::uint32_t to_axes = 0;
          for (std::uint32_t o = c.from.code; o != 0; o >>= 4) {
            c.from_parts *= e_.mesh[(o & 15) - 1];
            from_axes |= std::uint32_t{1} << (o & 15);
          }
          for (std::uint32_t o = c.to.code; o != 0; o >>= 4) {
            c.to_parts *= e_.mesh[(o & 15) - 1];
            to_axes |= std::uint32_t{1} << (o & 15);
          }
          if (from_axes == 0 || to_axes == 0) {
            blocks *= static_cast<double>(c.from_parts * c.to_parts);
          } else {
            independent *= static_cast<double>(c.from_parts * c.to_parts);
            finer *= static_cast<double>(c.from_parts > c.to_parts ? c.from_parts : c.to_parts);
            shared = shared || (from_axes & to_axes) != 0 || (axes & (from_axes | to_axes)) != 0;
            axes |= from_axes | to_axes;
            resharded[count++] = c;
          }
        }
        if (l == t) break;
      }
    }
    double const held = everywhere / new_blocks;
    if (!shared) return held - everywhere / (blocks * independent);
    if (held - everywhere / (blocks * finer) > bound) return held - everywhere / (blocks * finer);
    if (e_.ways(mesh_set{axes >> 1}) > most_devices_counted) return held - everywhere / (blocks * independent);
    return held - everywhere / blocks * counted(resharded, count, {axes >> 1});
  }

 private:
  // The mean overlap of blocks that change places. It does not depend on the labels that they are on. Nor does it
  // depend on the mesh axes if all have one size: these are then numbered as they occur.
  [[gnu::cold]] constexpr double counted(resharded_label const (&c)[max_mesh_axes], int count, mesh_set axes) {
    if (count > most_resharded || cached_ == capacity) return mean_overlap(c, count, axes, e_);
    std::uint32_t key[2 * most_resharded]{};
    std::uint32_t number[max_mesh_axes + 1]{};
    std::uint32_t numbers = 0;
    for (int i = 0; i < 2 * count; ++i) {
      std::uint32_t const code = i % 2 == 0 ? c[i / 2].from.code : c[i / 2].to.code;
      for (int at = 0; code >> at != 0; at += 4) {
        std::uint32_t& n = number[code >> at & 15];
        if (n == 0) n = alike_ ? ++numbers : code >> at & 15;
        key[i] |= n << at;
      }
    }
    for (int i = 0; i < cached_; ++i)
      if (key_[i][0] == key[0] && key_[i][1] == key[1] && key_[i][2] == key[2] && key_[i][3] == key[3])
        return value_[i];
    for (int i = 0; i < 2 * most_resharded; ++i) key_[cached_][i] = key[i];
    return value_[cached_++] = mean_overlap(c, count, axes, e_);
  }

  static constexpr int most_resharded = 2;
  static constexpr int capacity = 64;
  extents const& e_;
  int cached_ = 0;
  bool alike_ = true;  // true if all mesh axes have one size
  std::uint32_t key_[capacity][2 * most_resharded];
  double value_[capacity];
};

}  // namespace ostraka::planner::detail
