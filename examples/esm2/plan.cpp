// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The model with 15 billion parameters on X=2 · Y=4, as known while this file compiles: the memory of a device, every
/// plan, and the bytes moved, beside the bytes moved as published.

#include "plan.hpp"

#include <cstdio>
#include <string>

namespace {

void print_row(char const* what, std::int64_t one, std::int64_t other) {
  std::printf("%-40s %16s %16s\n", what, os::planner::describe_bytes(one).c_str(),
              os::planner::describe_bytes(other).c_str());
}

void print_parameters() {
  using namespace esm2;
  constexpr auto at = of_15_billion(8);
  encoder<os::names> shape;
  shape.layers.resize(layers_of_15_billion);
  auto const elements =
      os::bytes_a_device(shape, V = 33, M = 5120, N = 5120, H = 40, D = 128, F = 20480, X = 1, Y = 1) /
      static_cast<std::int64_t>(sizeof(float));
  std::printf("ESM2 15B on X=2 · Y=4. The parameters of a layer:\n\n%s", os::describe<layer>(at).c_str());
  std::printf("The encoder, %d layers: %s parameters, %s a device\n\n", layers_of_15_billion,
              os::planner::describe_number(elements).c_str(),
              os::planner::describe_bytes(parameter_bytes_of_15_billion()).c_str());
}

template <class Sizes>
void print_plans(Sizes const& at) {
  using namespace esm2::plans;
  struct line {
    char const* what;
    std::string text;
  };
  for (auto const& [what, text] :
       {line{"h, gathered once for q, k and v", os::describe(gather, at)},
        line{"a layer norm's statistics", os::describe(statistics, at)},
        line{"q, k, v", os::describe(project.for_sizes(at), at)}, line{"out", os::describe(out.for_sizes(at), at)},
        line{"up", os::describe(up.for_sizes(at), at)}, line{"down", os::describe(down.for_sizes(at), at)}})
    std::printf("%s: %s\n", what, text.c_str());
}

template <class Sizes>
void print_table(int batch, Sizes const& at) {
  using namespace esm2;
  std::printf("Batch %d of 512 tokens: the plans\n\n", batch);
  print_plans(at);
  std::printf("Bytes per device, batch %-16d %16s %16s\n", batch, "as published", "planned");
  for (row const& r : rows_of_layer(at)) print_row(r.what, r.published, r.planned);
  row const sum = sum_of_layer(at);
  print_row("a layer, forward", sum.published, sum.planned);
  print_row("48 layers", layers_of_15_billion * sum.published, layers_of_15_billion * sum.planned);
  passes const published_passes = passes_of<published>(at), stationary_passes = passes_of<stationary>(at);
  std::printf("\nA layer's gradient, batch %-14d %16s %16s\n", batch, "as published", "weights stay");
  print_row("forward", published_passes.forward, stationary_passes.forward);
  print_row("backward", published_passes.backward, stationary_passes.backward);
  std::printf("\n");
}

}  // namespace

void print_plan() {
  print_parameters();
  print_table(8, esm2::of_15_billion(8));
  print_table(32, esm2::of_15_billion(32));
  std::printf("What was gathered is kept for the backward; weights gathered again would add %s a layer.\n",
              os::planner::describe_bytes(esm2::weights_again(esm2::of_15_billion(8))).c_str());
}
