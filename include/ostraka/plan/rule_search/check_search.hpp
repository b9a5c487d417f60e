// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Checks the arguments of the search for rules (rule_search.hpp): the program has statements, the numbers of
/// meshes and settings are consistent, and the machine computes with such elements and connects its devices.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/hardware/check_machine.hpp>
#include <ostraka/plan/pricing/settings.hpp>
#include <ostraka/plan/program/program.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner::detail {

inline void require(bool good, std::string const& why) {
  if (!good) throw_error("search_rules: ", why);
}

// The search counts the products of a statement, and the elements of a tensor on all devices together, in 64 bits.
inline void check_program(program const& p, std::int64_t devices) {
  require(!p.statements.empty(), join_text("program ", p.name, " computes nothing; give it statements"));
  auto const indices = [&](std::vector<int> const& axes) {
    double n = 1;
    for (int a : axes) n *= static_cast<double>(p.axes[static_cast<std::size_t>(a)].extent);
    return n;
  };
  for (program_tensor const& t : p.tensors)
    require(indices(t.axes) * static_cast<double>(devices) < 2e18,
            join_text("tensor ", t.name,
                      ", held by all devices, has more than 2·10^18 elements; give the sizes of a real model"));
  for (program_statement const& s : p.statements) {
    std::vector<int> axes;
    for (program_operand const& o : s.operands)
      for (int a : o.axes)
        if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
    require(indices(axes) < 4e18,
            join_text(p.tensors[static_cast<std::size_t>(s.result)].name,
                      " takes more than 4·10^18 multiplications; give the sizes of a real model"));
  }
}

// Checks that the machine computes with the program's elements and has links along every mesh axis.
inline void check_machine_of(program const& p, std::vector<device_mesh> const& meshes, machine const& on) {
  for (program_statement const& s : p.statements)
    if (s.kind != statement_kind::move)
      check_machine("search_rules", on, p.tensors[static_cast<std::size_t>(s.result)].element_bytes);
  for (device_mesh const& mesh : meshes)
    for (std::size_t a = 0; a < mesh.sizes.size(); ++a)
      for (level const& l : mesh.levels[a])
        if (l.ways > 1) check_links("search_rules", on, l.links, mesh.names[a]);
}

inline void check_meshes(std::vector<device_mesh> const& meshes) {
  require(!meshes.empty(), "there is no mesh; give one, or a number of devices");
  for (device_mesh const& mesh : meshes) {
    require(mesh.axes() <= max_mesh_axes,
            join_text("a mesh has more than ", max_mesh_axes, " axes; leave out those of one device, or join some"));
    for (std::int64_t n : mesh.sizes) require(n >= 1, "a mesh axis has no devices; give it 1 or more");
  }
}

}  // namespace ostraka::planner::detail
