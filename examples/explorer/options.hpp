// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The command line of ostraka-plan.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/hardware/machine_text.hpp>

#include "study.hpp"

namespace explorer {

inline constexpr char const* usage = R"(ostraka-plan: all plans of an einsum on sharded tensors, ranked

  ostraka-plan "h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]" --mesh X=2,Y=4 --sizes B=128,S=512,M=1024,H=4096
  ostraka-plan layer.txt --machine tpu_v5p --html layer.html

What to plan: statements, or a file of them, or - for the standard input. Axes have names; B_X is B divided over mesh
axis X, B_XY over X, then Y; {U_X} behind a tensor says that devices along X hold summands. Lines `mesh X=2, Y=4` and
`sizes B=128, S=512` give sizes in a file; # begins a comment; gelu(a) -> g[B_X, S, H_Y] works element by element,
softmax, layer_norm and rms_norm along the last axis.

  --mesh X=2,Y=4      the mesh axes and their devices
  --sizes B=128,…     the extents of axes
  --type NAME         of elements: float (default), double, bfloat16, float16, int8
  --machine NAME      adds times and ranks by them; --machines lists what there is; or a file of bench/calibrate
  --network X,Y       these mesh axes go over the machine's network between nodes, not over its fast links
  --search N          instead of plans: the best rules for axes, and meshes, on N devices of the machine, by the time
                      of a training step; meshes and shardings that are given do not count. Parameters are tensors
                      that no line makes, without the first axis of the first tensor, which is the batch's
  --node N            with --search: N devices are in a node, and the machine's network joins nodes
  --top N             plans of each statement, or sets of rules, that are shown; 5 if not given
  --all               plans, too, that another one beats in bytes, operations and memory
  --json              prints what tools read
  --html FILE         writes a page with plans, shardings and timelines
  --cpp FILE          writes a C++ file whose lines have these plans, held to them by static_assert
  --help, --version

Ends with 0; with 2 where something is wrong with what was asked; with 1 where a file cannot be read or written.
)";

struct options {
  std::vector<std::string> what{};  ///< statements, files, -
  std::string mesh{}, sizes{};
  element_type element{};
  std::optional<planner::machine> machine{};
  std::size_t search = 0;  ///< devices; 0: no search
  std::size_t node = 0;    ///< devices of a node; 0: all
  std::size_t top = 5;
  bool every_way = false;
  bool json = false;
  std::string html{}, cpp{};
  bool help = false, version = false, machines = false;
};

namespace detail {

inline std::optional<element_type> element_named(std::string_view name) {
  for (element_type const& t : {element_type{"float", "float", 4}, element_type{"double", "double", 8},
                                element_type{"bfloat16", "os::bfloat16", 2}, element_type{"float16", "os::float16", 2},
                                element_type{"int8", "std::int8_t", 1}})
    if (t.name == name) return t;
  return std::nullopt;
}

inline std::string machines_in_a_row() {
  std::string text;
  for (planner::machine const& m : planner::machines::all)
    text += (text.empty() ? "" : ", ") + std::string(m.name.view());
  return text;
}

// Reads a number from 1 to `most`.
inline std::string read_number(std::string const& flag, std::string const& value, std::size_t most, std::size_t& n) {
  n = 0;
  for (char c : value) {
    if (c < '0' || c > '9' || n > most) n = most + 1;
    if (n > most) break;
    n = n * 10 + static_cast<std::size_t>(c - '0');
  }
  if (n > 0 && n <= most) return "";
  return flag + " takes a number from 1 to " + std::to_string(most) + ", not " + value;
}

inline std::string wrong_with_search(options const& o, bool network) {
  if (o.search == 0)
    return o.node > 0 ? "--node says how many devices of a search are in a node: give --search, too" : "";
  if (!o.machine) return "--search ranks by the times of a machine: give --machine, too";
  if (o.json || o.every_way || !o.html.empty() || !o.cpp.empty())
    return "--search prints rules; --all, --json, --html and --cpp are for plans: leave them out";
  if (network) return "--network names mesh axes, which --search chooses: say how many devices are in a node, --node N";
  if (o.machine->flops_per_second.of(o.element.bytes) <= 0)
    return "--search: this machine does not multiply " + std::string(o.element.name) + ": give another --type";
  if (o.node == 0) return "";
  if (o.search % o.node != 0)
    return "--node: " + std::to_string(o.search) + " devices are no whole number of nodes of " + std::to_string(o.node);
  if (o.machine->between_nodes.bytes_per_second <= 0)
    return "--node: of this machine no links between nodes are known; give it a line `nodes = …` in its file";
  return "";
}

}  // namespace detail

/// Reads the options into `o`; returns an error text, or "".
inline std::string read_options(std::vector<std::string> const& arguments, options& o) {
  std::string network;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string flag = arguments[i];
    std::optional<std::string> value;
    if (!flag.starts_with("--")) {
      if (flag.size() > 1 && flag[0] == '-') return "there is no flag " + flag + "; --help lists those there are";
      o.what.push_back(flag);
      continue;
    }
    if (std::size_t const at = flag.find('='); at != std::string::npos) {
      value = flag.substr(at + 1);
      flag.resize(at);
    }
    bool const alone =
        flag == "--all" || flag == "--json" || flag == "--help" || flag == "--version" || flag == "--machines";
    bool const takes = flag == "--mesh" || flag == "--sizes" || flag == "--type" || flag == "--machine" ||
                       flag == "--network" || flag == "--top" || flag == "--search" || flag == "--node" ||
                       flag == "--html" || flag == "--cpp";
    if (!alone && !takes) return "there is no flag " + flag + "; --help lists those there are";
    if (alone && value) return flag + " takes no value";
    if (takes && !value) {
      if (i + 1 == arguments.size()) return flag + " needs a value after it";
      value = arguments[++i];
    }
    if (takes && value->empty()) return flag + " needs a value after it";
    if (flag == "--all") o.every_way = true;
    if (flag == "--json") o.json = true;
    if (flag == "--help") o.help = true;
    if (flag == "--version") o.version = true;
    if (flag == "--machines") o.machines = true;
    if (flag == "--mesh") o.mesh += (o.mesh.empty() ? "" : ",") + *value;
    if (flag == "--sizes") o.sizes += (o.sizes.empty() ? "" : ",") + *value;
    if (flag == "--network") network = *value;
    if (flag == "--html") o.html = *value;
    if (flag == "--cpp") o.cpp = *value;
    if (flag == "--type") {
      std::optional<element_type> const t = detail::element_named(*value);
      if (!t) return "there is no element type " + *value + "; there are float, double, bfloat16, float16, int8";
      o.element = *t;
    }
    if (flag == "--machine") {
      if (planner::machine const* const m = machine_named(*value); m != nullptr) {
        o.machine = *m;
        continue;
      }
      std::ifstream file(*value, std::ios::binary);
      if (!file || value->find_first_of("./") == std::string::npos)
        return "there is no machine " + *value + "; there are " + detail::machines_in_a_row() +
               ", and files that bench/calibrate writes";
      std::string const text{std::istreambuf_iterator<char>(file), {}};
      try {
        o.machine = planner::machine_from_text(text, *value);
      } catch (ostraka::error const& wrong) {
        return wrong.what();
      }
    }
    std::string wrong;
    if (flag == "--top") wrong = detail::read_number(flag, *value, 100000, o.top);
    if (flag == "--search") wrong = detail::read_number(flag, *value, most_devices_in_text, o.search);
    if (flag == "--node") wrong = detail::read_number(flag, *value, most_devices_in_text, o.node);
    if (!wrong.empty()) return wrong;
  }
  if (std::string const wrong = detail::wrong_with_search(o, !network.empty()); !wrong.empty()) return wrong;
  if (network.empty()) return "";
  if (!o.machine) return "--network says what joins devices of a machine: give --machine, too";
  planner::link const between = o.machine->between_nodes;
  if (between.bytes_per_second <= 0)
    return "--network: of this machine no links between nodes are known; give it links.X in its file";
  for (std::size_t begin = 0; begin <= network.size();) {
    std::size_t const end = std::min(network.find(',', begin), network.size());
    std::string const axis = network.substr(begin, end - begin);
    if (axis.empty()) return "--network takes mesh axes: --network X,Y";
    o.machine = o.machine->with(axis, between);
    begin = end + 1;
  }
  return "";
}

}  // namespace explorer
