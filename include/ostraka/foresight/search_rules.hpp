// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::search_rules(program, 64, machine)`: the mesh axes that should divide each logical axis of a program,
/// so that a step takes the least time that memory allows; on a given mesh, or on every mesh of a number of devices.
/// Nothing runs, and only the standard library is needed.
///
///     auto const layer = os::programs::feed_forward({.width = 5120, .inner = 20480},
///                                                   {.sequences = 64, .length = 512});
///     auto const found = os::search_rules(layer, 8, os::machines::h100);
///     std::puts(os::describe(found).c_str());
///     // … constexpr os::rules<batch/X, …> R;

#include <ostraka/types/support/language.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/program/layers.hpp>
#include <ostraka/plan/rule_search/report.hpp>
#include <ostraka/plan/rule_search/rule_search.hpp>
#include <ostraka/types/axes/axis.hpp>

namespace ostraka {

template <MeshAxis... Ms>
class mesh;  // of mesh.hpp

namespace machines = planner::machines;
/// Programs from the literature as data: os::programs::decoder and others.
namespace programs = planner::programs;
using planner::keeping;
using planner::machine;
using planner::program;
using planner::program_builder;
using planner::ranked_rules;
using planner::search_settings;

/// The result of a search, and its program.
struct rules_found : planner::search_result {
  planner::program of;

  /// The best rules as a line of a program: `constexpr os::rules<batch/X, inner/Y> R;`. Empty if nothing fits.
  [[nodiscard]] std::string line() const {
    return ranked.empty() ? std::string() : planner::line_to_paste(of, ranked.front());
  }
};

/// The best rules on a given mesh, of ranks or dry.
template <MeshAxis... Ms>
[[nodiscard]] rules_found search_rules(planner::program const& p, mesh<Ms...> const& m, planner::machine const& on,
                                       planner::search_settings const& how = {}) {
  planner::device_mesh const devices =
      planner::mesh_on(on, {std::string(Ms::name)...}, {m.size(Ms{})...}, how.node_devices);
  return {planner::search_rules(p, std::vector<planner::device_mesh>{devices}, on, how), p};
}

/// The best rules on any mesh of `devices` devices.
[[nodiscard]] inline rules_found search_rules(planner::program const& p, std::int64_t devices,
                                              planner::machine const& on, planner::search_settings const& how = {}) {
  return {planner::search_rules(p, devices, on, how), p};
}

/// A table of the rules found, and the best ones as lines to paste.
[[nodiscard]] inline std::string describe(rules_found const& found) { return planner::describe(found.of, found); }

}  // namespace ostraka
