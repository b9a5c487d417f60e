// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ostraka-plan: takes an einsum on sharded tensors and prints every plan worth considering, ranked, each with the C++
/// lines that select exactly that plan. It runs and allocates nothing: plans are data, made by the functions that also
/// plan while a program compiles. It also takes the lines of a program and finds the best rules and mesh for them. It
/// needs neither Kokkos nor MPI.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <ostraka/plan/rule_search/report.hpp>
#include <ostraka/plan/rule_search/rule_search.hpp>
#include <ostraka/version.hpp>

#include "as_cpp.hpp"
#include "as_html.hpp"
#include "as_json.hpp"
#include "as_text.hpp"
#include "options.hpp"
#include "program/unsharded.hpp"

namespace {

using namespace explorer;

constexpr int wrong_request = 2;
constexpr int no_file = 1;

int complain(std::string const& what) {
  std::cerr << "ostraka-plan: " << what << '\n';
  return wrong_request;
}

// Reads statements from the command line, or the contents of a file.
int read_program(std::vector<std::string> const& what, std::string& text, std::string& source) {
  for (std::string const& w : what) {
    std::string part = w;
    if (w == "-") {
      part.assign(std::istreambuf_iterator<char>(std::cin), {});
      source = "<stdin>";
    } else if (w.find('[') == std::string::npos) {
      std::ifstream file(w, std::ios::binary);
      if (!file) {
        std::cerr << "ostraka-plan: " << w << " cannot be read; a statement has axes in brackets, A[I_X, J]\n";
        return no_file;
      }
      part.assign(std::istreambuf_iterator<char>(file), {});
      source = w;
    }
    text += (text.empty() ? "" : "\n") + part;
  }
  if (what.size() > 1) source.clear();  // line numbers count all files together
  return 0;
}

int write_file(std::string const& name, std::string const& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (file) return 0;
  std::cerr << "ostraka-plan: " << name << " cannot be written\n";
  return no_file;
}

void list_machines() {
  for (planner::machine const& m : planner::machines::all)
    std::printf(
        "%-12s %8.3g flops a second in 16 bits, %8.3g in 32, %6.3g GB, links of %.3g GB a second (%s%s)\n",
        std::string(m.name.view()).c_str(), m.flops_per_second.float16, m.flops_per_second.float32,
        m.memory_bytes / 1e9, m.links.bytes_per_second / 1e9, planner::name_of(m.links.shape),
        (m.links.wraps_from > 0 ? ", from " + std::to_string(m.links.wraps_from) + " on" : std::string()).c_str());
}

// Searches the best rules on any mesh of this many devices.
int search(planner::program const& given, options const& o) {
  planner::program const p = unsharded(given, o.element.bytes);
  planner::search_settings how;
  how.most = static_cast<int>(o.top);
  how.node_devices = static_cast<std::int64_t>(o.node);
  how.kept = {planner::keeping::everything};  // lines have no layers and no moves that could be repeated
  std::cout << "a training step on " << o.search << (o.search == 1 ? " device of " : " devices of ")
            << o.machine->name.view();
  if (o.node > 0) std::cout << ", " << o.node << " in a node";
  std::cout << "; " << o.element.name << '\n';
  std::string const parameters = list_of_tensors(p, planner::tensor_role::parameter);
  std::string const carried = list_of_tensors(p, planner::tensor_role::carried);
  if (!parameters.empty()) std::cout << "parameters: " << parameters << '\n';
  if (!carried.empty()) std::cout << "from the layer before: " << carried << '\n';
  std::cout << '\n'
            << planner::describe(p, planner::search_rules(p, static_cast<std::int64_t>(o.search), *o.machine, how));
  std::cout.flush();
  return std::cout ? 0 : no_file;
}

int run(std::vector<std::string> const& arguments) {
  options o;
  if (std::string const wrong = read_options(arguments, o); !wrong.empty()) return complain(wrong);
  if (o.help) return std::fputs(usage, stdout) < 0;
  if (o.version)
    return std::printf("ostraka-plan %d.%d.%d\n", OSTRAKA_VERSION_MAJOR, OSTRAKA_VERSION_MINOR, OSTRAKA_VERSION_PATCH) <
           0;
  if (o.machines) return list_machines(), 0;
  if (o.what.empty()) return complain("nothing to plan; ostraka-plan --help shows how");

  parsed<std::vector<named_size>> mesh, sizes;
  if (!o.mesh.empty() && !(mesh = parse_sizes(o.mesh)).ok()) {
    std::cerr << describe(*mesh.error, o.mesh, "--mesh");
    return wrong_request;
  }
  if (!o.sizes.empty() && !(sizes = parse_sizes(o.sizes)).ok()) {
    std::cerr << describe(*sizes.error, o.sizes, "--sizes");
    return wrong_request;
  }
  std::string text, source;
  if (int const status = read_program(o.what, text, source); status != 0) return status;
  parsed<parsed_program> const program = parse_program(text, mesh.value, sizes.value);
  if (!program.ok()) {
    std::cerr << describe(*program.error, text, source);
    return wrong_request;
  }
  if (o.search > 0) {
    try {
      return search(program.value.program, o);
    } catch (ostraka::error const& wrong) {
      return complain(wrong.what());
    }
  }
  study const all = study_program(program.value, text, o.element, o.machine, o.every_way);
  if (!o.html.empty())
    if (int const status = write_file(o.html, as_html(all, o.top)); status != 0) return status;
  if (!o.cpp.empty())
    if (int const status = write_file(o.cpp, as_cpp(all, o.top)); status != 0) return status;
  if (o.json)
    std::cout << as_json(all, o.top);
  else if (o.html.empty() && o.cpp.empty())
    std::cout << as_text(all, o.top);
  std::cout.flush();
  return std::cout ? 0 : no_file;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (std::exception const& e) {
    std::cerr << "ostraka-plan: " << e.what() << '\n';
    return no_file;
  }
}
