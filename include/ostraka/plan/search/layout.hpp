// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The sharding of a tensor as one number, for searches that look at thousands of them while a program
/// compiles: comparing, copying and keeping one costs the compiler a single step. Byte m tells what mesh axis m divides
/// and where it stands among those that divide the same label, bit 48 + m whether the tensor is partial along it.
/// A[I_XY] {U_Z}: {1 + I, 0}, {1 + I, 1}, nothing, partial {Z}.
///
/// A division of local work is the same number with 1 + label in each byte, or `kept` for an operand that stays
/// partial.

#include <cstdint>

#include <ostraka/plan/spec/cost.hpp>
#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner::detail {

using layout = std::uint64_t;

inline constexpr int partial_bit = 8 * max_mesh_axes;

constexpr layout byte_for(int label, int position, int mesh_axis) {
  return static_cast<layout>((label + 1) << 3 | position) << 8 * mesh_axis;
}

// The left (0) or right (1) operand of a product stays partial: in the place of a label.
constexpr int kept(int side) { return max_labels + side; }

constexpr layout layout_of(spec const& s) {
  layout q = static_cast<layout>(s.partial.bits) << partial_bit;
  for (int i = 0; i < s.rank; ++i) {
    int at = 0;
    for (std::uint32_t c = s.over[i].code; c != 0; c >>= 4)
      q |= byte_for(s.label[i], at++, static_cast<int>(c & 15) - 1);
  }
  return q;
}

// The tensor of `shape` under another sharding.
constexpr spec spec_under(spec shape, layout q) {
  shape.partial.bits = static_cast<std::uint32_t>(q >> partial_bit);
  for (int i = 0; i < shape.rank; ++i) shape.over[i] = {};
  std::uint32_t number = 1;
  for (layout rest = q & ((layout{1} << partial_bit) - 1); rest != 0; rest >>= 8, ++number) {
    int const b = static_cast<int>(rest & 255);
    if (b != 0) shape.over[shape.find((b >> 3) - 1)].code |= number << 4 * (b & 7);
  }
  return shape;
}

// Number of blocks that the labels are divided into.
constexpr double blocks_of(layout q, extents const& e) {
  double n = 1;
  for (int m = 0; m < e.mesh_axes; ++m)
    if ((q >> 8 * m & 255) != 0) n *= static_cast<double>(e.mesh[m]);
  return n;
}

// Do free slices take `from` to `to`? Where all that divides a label stands at the same place in `to`, it is the major
// end there.
constexpr bool is_slice(layout from, layout to, extents const& e) {
  if ((from ^ to) >> partial_bit != 0) return false;
  for (int m = 0; m < e.mesh_axes; ++m)
    if ((from >> 8 * m & 255) != 0 && ((from ^ to) >> 8 * m & 255) != 0) return false;
  return true;
}

// One label's mesh axes, as in mesh_order.
constexpr std::uint32_t order_on(layout q, int label, extents const& e) {
  std::uint32_t code = 0;
  for (int m = 0; m < e.mesh_axes; ++m)
    if (static_cast<int>(q >> (8 * m + 3) & 31) == label + 1)
      code |= static_cast<std::uint32_t>(m + 1) << 4 * static_cast<int>(q >> 8 * m & 7);
  return code;
}

// What exchanges of layouts move; remembers what has to be counted device by device.
class exchange_prices {
 public:
  constexpr explicit exchange_prices(extents const& e) : e_(e) {
    for (int m = 1; m < e.mesh_axes; ++m) alike_ = alike_ && e.mesh[m] == e.mesh[0];
  }

  // What the devices need under `to` and do not have under `from`, of a tensor of `whole` elements: ideal_exchange of
  // specs. Some number above `bound` if that is above it. @pre both partial over the same mesh axes
  constexpr double operator()(layout from, layout to, double whole, double bound) {
    if (from == to) return 0;
    if (e_.mesh_axes == 1) {  // a slice, a gather, or an all-to-all
      double const n = static_cast<double>(e_.mesh[0]);
      return (from & 255) == 0 ? 0 : (to & 255) == 0 ? whole * n - whole : whole - whole / n;
    }
    double everywhere = whole;
    double new_blocks = 1;
    double blocks = 1;       // each device keeps a block of so many
    double independent = 1;  // where divisions cross: the same if mesh axes play one part only
    double finer = 1;        // where divisions cross: at most
    std::uint32_t done = 0;
    crossing crossings[max_mesh_axes]{};
    int count = 0;
    std::uint32_t axes = 0;
    bool shared = false;
    for (int m = 0; m < e_.mesh_axes; ++m) {
      double const size = static_cast<double>(e_.mesh[m]);
      everywhere *= size;
      int const f = static_cast<int>(from >> 8 * m & 255);
      int const t = static_cast<int>(to >> 8 * m & 255);
      if (t != 0) new_blocks *= size;
      for (int b = f; ; b = t) {
        if (b != 0 && (done >> (b >> 3) & 1) == 0) {
          done |= std::uint32_t{1} << (b >> 3);
          crossing c{{order_on(from, (b >> 3) - 1, e_)}, {order_on(to, (b >> 3) - 1, e_)}, 1, 1};
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
            crossings[count++] = c;
          }
        }
        if (b == t) break;
      }
    }
    double const held = everywhere / new_blocks;
    if (!shared) return held - everywhere / (blocks * independent);
    if (held - everywhere / (blocks * finer) > bound) return held - everywhere / (blocks * finer);
    if (e_.ways(mesh_set{axes >> 1}) > most_devices_counted) return held - everywhere / (blocks * independent);
    return held - everywhere / blocks * counted(crossings, count, {axes >> 1});
  }

 private:
  // Mean overlap of blocks that change places. Which labels they are on makes no difference, nor, where all mesh axes
  // have one size, which mesh axes they are over: those are numbered as they occur.
  constexpr double counted(crossing const (&c)[max_mesh_axes], int count, mesh_set axes) {
    if (count > most_crossings || known_ == room) return mean_overlap(c, count, axes, e_);
    std::uint32_t key[2 * most_crossings]{};
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
    for (int i = 0; i < known_; ++i)
      if (key_[i][0] == key[0] && key_[i][1] == key[1] && key_[i][2] == key[2] && key_[i][3] == key[3])
        return value_[i];
    for (int i = 0; i < 2 * most_crossings; ++i) key_[known_][i] = key[i];
    return value_[known_++] = mean_overlap(c, count, axes, e_);
  }

  static constexpr int most_crossings = 2;
  static constexpr int room = 64;
  extents const& e_;
  int known_ = 0;
  bool alike_ = true;  // are all mesh axes of one size?
  std::uint32_t key_[room][2 * most_crossings];
  double value_[room];
};

}  // namespace ostraka::planner::detail
