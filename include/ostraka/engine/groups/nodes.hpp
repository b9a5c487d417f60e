// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The nodes that the members of a group run on. A group is a grid of devices, and each node holds a block of
/// it, all blocks of the same size. Messages within a node are fast, messages between nodes are slow.

namespace ostraka::engine {

/// A grid of devices, numbered with its first axis major, in which nodes hold equal blocks: axis a has `size[a]`
/// devices, `within[a]` of them in a row on one node. So each coordinate has a slow part, which is the major one, and a
/// fast part. Without axes, all devices are on one node.
struct node_grid {
  static constexpr int max_axes = 12;

  int axes = 0;
  int size[max_axes]{};
  int within[max_axes]{};

  constexpr void add(int devices, int of_a_node) {
    if (devices == 1) return;
    size[axes] = devices;
    within[axes++] = of_a_node;
  }

  [[nodiscard]] constexpr int nodes() const {
    int n = 1;
    for (int a = 0; a < axes; ++a) n *= size[a] / within[a];
    return n;
  }
  /// Returns the number of devices on each node. @pre there are several nodes
  [[nodiscard]] constexpr int each() const {
    int n = 1;
    for (int a = 0; a < axes; ++a) n *= within[a];
    return n;
  }
  /// True if there are several nodes, and several devices on each.
  [[nodiscard]] constexpr bool has_levels() const { return nodes() > 1 && each() > 1; }

  [[nodiscard]] constexpr int node_of(int device) const { return part_of(device, false); }
  /// Returns a device's number among the devices of its node.
  [[nodiscard]] constexpr int place_of(int device) const { return part_of(device, true); }
  [[nodiscard]] constexpr int device(int node, int place) const {
    int number = 0;
    int unit = 1;
    for (int a = axes - 1; a >= 0; --a) {
      int const slow = size[a] / within[a];
      number += unit * (node % slow * within[a] + place % within[a]);
      node /= slow;
      place /= within[a];
      unit *= size[a];
    }
    return number;
  }

  /// True if devices are numbered node by node.
  [[nodiscard]] constexpr bool in_order() const {
    bool behind = false;  // an earlier axis has more than one device of a node
    for (int a = 0; a < axes; ++a) {
      if (behind && within[a] != size[a]) return false;
      behind = behind || within[a] > 1;
    }
    return true;
  }

 private:
  [[nodiscard]] constexpr int part_of(int device, bool fast) const {
    int number = 0;
    int unit = 1;
    for (int a = axes - 1; a >= 0; --a) {
      int const coordinate = device % size[a];
      device /= size[a];
      number += unit * (fast ? coordinate % within[a] : coordinate / within[a]);
      unit *= fast ? within[a] : size[a] / within[a];
    }
    return number;
  }
};

}  // namespace ostraka::engine
