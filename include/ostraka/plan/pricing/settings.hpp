// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The setting in which a program is priced: devices with links between them, and the kind of step: forward
/// alone or a training step, the tensors kept for the backward, the optimiser's state.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

/// The part of the forward that stays in memory until the backward.
enum class keeping : std::uint8_t {
  everything,       ///< all tensors that the backward needs
  all_but_gathers,  ///< all but gathered tensors, which are gathered again (os::checkpoint with
                    ///< os::save_all_but_gathers)
  layers            ///< only the inputs of repeated layers, which are recomputed (os::checkpoint)
};

/// "everything", "all but gathers", "what layers begin with".
[[nodiscard]] constexpr char const* name_of(keeping k) {
  return k == keeping::everything ? "everything" : k == keeping::all_but_gathers ? "all but gathers"
                                                                                 : "what layers begin with";
}

/// The kind of step.
struct step_settings {
  bool training = true;      ///< forward and backward; otherwise the forward alone
  keeping kept = keeping::everything;
  double state_bytes = 8;    ///< bytes of the optimiser's state per element of a parameter: Adam has two numbers of 4
                             ///< bytes
  bool even_blocks = true;   ///< rules divide an axis into blocks of one size only
};

/// Devices along named mesh axes, the first one major: neighbours along the last one have consecutive numbers.
struct device_mesh {
  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<level>> levels;  ///< the links along each; an axis within and between nodes has two levels

  [[nodiscard]] int axes() const { return static_cast<int>(sizes.size()); }
  [[nodiscard]] std::int64_t devices() const {
    std::int64_t n = 1;
    for (std::int64_t s : sizes) n *= s;
    return n;
  }
  [[nodiscard]] std::int64_t ways(mesh_set over) const {
    std::int64_t n = 1;
    for (int m = 0; m < axes(); ++m)
      if (over.contains(m)) n *= sizes[static_cast<std::size_t>(m)];
    return n;
  }
};

/// The mesh on a machine with `node_devices` devices per node (0: one node has all devices). A mesh axis within one
/// node has the machine's links along it. An axis between nodes has the links between nodes. An axis both within and
/// between nodes has two levels.
[[nodiscard]] inline device_mesh mesh_on(machine const& m, std::vector<std::string> names,
                                         std::vector<std::int64_t> sizes, std::int64_t node_devices = 0) {
  device_mesh made{std::move(names), std::move(sizes), {}};
  made.levels.resize(made.sizes.size());
  bool const has_nodes = node_devices > 0 && m.between_nodes.bytes_per_second > 0;
  std::int64_t inside = node_devices;  // devices of a node that no minor mesh axis uses
  for (std::size_t i = made.sizes.size(); i-- > 0;) {
    link const& own = m.along(made.names[i]);
    std::int64_t const n = made.sizes[i];
    if (!has_nodes || n <= inside) {
      made.levels[i] = {{own, n}};
    } else if (inside > 1 && n % inside == 0) {
      made.levels[i] = {{m.between_nodes, n / inside}, {own, inside}};
    } else {
      made.levels[i] = {{m.between_nodes, n}};
    }
    inside = n <= inside && inside % n == 0 ? inside / n : std::min<std::int64_t>(inside, 1);
  }
  return made;
}

/// Seconds of a collective in which each device sends `bytes` bytes.
[[nodiscard]] inline double seconds_of(machine const& m, device_mesh const& mesh, step kind, mesh_set axes,
                                       double bytes) {
  level levels[2 * max_mesh_axes]{};  // an axis has at most two
  int n = 0;
  for (int a = 0; a < mesh.axes(); ++a)
    if (axes.contains(a))
      for (level const& l : mesh.levels[static_cast<std::size_t>(a)]) levels[n++] = l;
  collective const what = collective_of(kind);
  std::int64_t const ways = mesh.ways(axes);
  double const whole = whole_bytes(what, ways, bytes);
  return seconds(levels, n, what, whole) + reduction_seconds(m, what, ways, whole);
}

}  // namespace ostraka::planner
