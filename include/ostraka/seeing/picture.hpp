// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The devices that hold each block, as data: blocks along each axis and the devices of each block, found by
/// walking over all devices of the mesh. os::visualize draws it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// An axis of a tensor and the mesh axes that divide it, major first.
struct drawn_axis {
  std::string name;
  std::int64_t extent = 0;
  std::vector<int> over{};
  std::int64_t blocks = 1;

  [[nodiscard]] planner::range range(std::int64_t block) const { return planner::block(extent, block, blocks); }
};

/// A tensor to be drawn. Mesh axes are numbered in the order of the mesh. Device 0 has all coordinates 0, and the last
/// mesh axis is minor.
struct picture {
  std::string title;
  std::vector<std::string> mesh_names{};
  std::vector<std::int64_t> mesh_sizes{};
  std::vector<drawn_axis> axes{};
  std::vector<int> partial{};  ///< mesh axes whose devices hold parts
  std::vector<int> varying{};  ///< mesh axes along which each device holds its own value
  reduction kind = reduction::sum;
  std::vector<std::vector<std::int64_t>> holders{};  ///< devices by block, row-major, then by part

  [[nodiscard]] std::int64_t ways(std::vector<int> const& over) const {
    std::int64_t n = 1;
    for (int m : over) n *= mesh_sizes[static_cast<std::size_t>(m)];
    return n;
  }

  [[nodiscard]] std::int64_t parts() const { return ways(partial) * ways(varying); }

  /// The devices of one part of a block.
  [[nodiscard]] std::vector<std::int64_t> const& devices_of(std::int64_t block, std::int64_t part) const {
    return holders[static_cast<std::size_t>(block * parts() + part)];
  }
};

/// The number of the block over these mesh axes that holds the coordinates.
[[nodiscard]] inline std::int64_t number_along(picture const& p, std::vector<int> const& over,
                                               std::vector<std::int64_t> const& at) {
  std::int64_t d = 0;
  for (int m : over) d = d * p.mesh_sizes[static_cast<std::size_t>(m)] + at[static_cast<std::size_t>(m)];
  return d;
}

/// Fills in blocks and holders. A template so that programs that do not draw compile nothing.
template <class = void>
[[gnu::cold]] void find_holders(picture& p) {
  std::int64_t blocks = 1, devices = 1;
  for (drawn_axis& a : p.axes) blocks *= a.blocks = p.ways(a.over);
  for (std::int64_t n : p.mesh_sizes) devices *= n;
  p.holders.assign(static_cast<std::size_t>(blocks * p.parts()), {});
  std::vector<std::int64_t> at(p.mesh_sizes.size());
  for (std::int64_t device = 0; device < devices; ++device) {
    std::int64_t rest = device;
    for (std::size_t m = at.size(); m-- > 0; rest /= p.mesh_sizes[m]) at[m] = rest % p.mesh_sizes[m];
    std::int64_t cell = 0;
    for (drawn_axis const& a : p.axes) cell = cell * a.blocks + number_along(p, a.over, at);
    cell = cell * p.ways(p.varying) + number_along(p, p.varying, at);
    cell = cell * p.ways(p.partial) + number_along(p, p.partial, at);
    p.holders[static_cast<std::size_t>(cell)].push_back(device);
  }
}

/// `0,2,4`, or `0–7` for three or more consecutive numbers.
template <class = void>
[[gnu::cold]] std::string devices_as_text(std::vector<std::int64_t> const& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size();) {
    std::size_t last = i;
    while (last + 1 < devices.size() && devices[last + 1] == devices[last] + 1) ++last;
    if (last < i + 2) last = i;
    append_text(text, i > 0 ? "," : "", devices[i], last > i ? join_text("–", devices[last]) : "");
    i = last + 1;
  }
  return text;
}

/// The holders of a block: `0,1`: both hold it; `0 + 1`: summands of it; `max(0, 1)`: operands of a maximum; `0 | 1`:
/// each holds its own.
template <class = void>
[[gnu::cold]] std::string holders_as_text(picture const& p, std::int64_t block) {
  bool const as_function = p.kind == reduction::max || p.kind == reduction::min;
  char const* const sign = p.kind == reduction::sum       ? " + "
                           : p.kind == reduction::prod    ? " · "
                           : p.kind == reduction::bit_and ? " & "
                           : p.kind == reduction::bit_or  ? " or "
                                                          : ", ";
  std::int64_t const parts = p.ways(p.partial), own = p.ways(p.varying);
  std::string text;
  for (std::int64_t v = 0; v < own; ++v) {
    std::string together;
    for (std::int64_t k = 0; k < parts; ++k)
      append_text(together, k > 0 ? sign : "", devices_as_text(p.devices_of(block, v * parts + k)));
    if (as_function && parts > 1) together = join_text(p.kind == reduction::max ? "max(" : "min(", together, ')');
    append_text(text, v > 0 ? " | " : "", together);
  }
  return text;
}

/// The axes of rows and columns, −1 for none. The other axes become slices.
struct table_axes {
  int rows = -1, columns = -1;
};

/// Up to two axes become rows and columns. If there are more: the first two that are divided, else the last ones.
template <class = void>
[[gnu::cold]] table_axes axes_of_table(picture const& p) {
  int const rank = static_cast<int>(p.axes.size());
  if (rank <= 2) return {rank == 2 ? 0 : -1, rank - 1};
  std::vector<int> chosen;
  for (int i = 0; i < rank && chosen.size() < 2; ++i)
    if (!p.axes[static_cast<std::size_t>(i)].over.empty()) chosen.push_back(i);
  for (int i = rank; i-- > 0 && chosen.size() < 2;)
    if (p.axes[static_cast<std::size_t>(i)].over.empty()) chosen.push_back(i);
  return {std::min(chosen[0], chosen[1]), std::max(chosen[0], chosen[1])};
}

/// `[0, 512)`
template <class = void>
[[gnu::cold]] std::string range_as_text(planner::range r) {
  return join_text('[', r.begin, ", ", r.end, ')');
}

/// Calls f(heading, cell) for each slice of the other axes, f("S [0, 4)", cell). cell(r, c) is the number of the block
/// at row r and column c.
template <class F>
void for_each_slice(picture const& p, table_axes t, F const& f) {
  std::size_t const rank = p.axes.size();
  std::vector<std::int64_t> at(rank);
  for (;;) {
    std::string heading;
    for (std::size_t i = 0; i < rank; ++i)
      if (static_cast<int>(i) != t.rows && static_cast<int>(i) != t.columns)
        append_text(heading, heading.empty() ? "" : ", ", p.axes[i].name, ' ', range_as_text(p.axes[i].range(at[i])));
    f(heading, [&](std::int64_t row, std::int64_t column) {
      std::int64_t cell = 0;
      for (std::size_t i = 0; i < rank; ++i)
        cell = cell * p.axes[i].blocks + (static_cast<int>(i) == t.rows      ? row
                                          : static_cast<int>(i) == t.columns ? column
                                                                             : at[i]);
      return cell;
    });
    std::size_t i = rank;
    while (i-- > 0) {
      if (static_cast<int>(i) == t.rows || static_cast<int>(i) == t.columns) continue;
      if (++at[i] < p.axes[i].blocks) break;
      at[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace ostraka::detail
