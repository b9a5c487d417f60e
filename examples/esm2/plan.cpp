// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// What a layer of the 15-billion model moves on X=2 · Y=4, known while this file compiles; nothing is allocated.
/// Beside it the plan as published, in which every product gathers its weights over X and its activations over Y, or
/// scatters its result over Y.

#include <cstdint>
#include <cstdio>
#include <string>

#include "layer.hpp"

namespace {

constexpr os::sizes real(B = 8, S = 512, K = 512, M = 5120, N = 5120, H = 40, D = 128, F = 20480, X = 2, Y = 4);

template <class Out, class... Operands>
constexpr auto plan = os::plan_of<Out, Operands...>;

constexpr auto gather = plan<os::dims<B/X, S, M>, activations>;
constexpr auto statistics = plan<os::dims<B/X, S>, activations>;  // of a layer norm; of two numbers a position
constexpr auto project = plan<os::dims<B/X, S, H/Y, D>, gathered, of_width_t<decltype(layer::q)>>;
constexpr auto out = plan<os::dims<B/X, S, M/Y>, heads, of_width_t<decltype(layer::out)>>;
constexpr auto up = plan<os::dims<B/X, S, F/Y>, activations, of_width_t<decltype(layer::up)>>;
constexpr auto down = plan<os::dims<B/X, S, M/Y>, widened, of_width_t<decltype(layer::down)>>;

// As published: one move after the other.
constexpr auto gather_projection = plan<os::dims<M, H/Y, D>, of_width_t<decltype(layer::q)>>;
constexpr auto gather_out = plan<os::dims<H/Y, D, M>, of_width_t<decltype(layer::out)>>;
constexpr auto scatter_heads =
    plan<os::dims<B/X, S, M/Y>, heads, os::sharding_of<H/Y, D, M>, decltype(os::reduce_result)>;
constexpr auto gather_up = plan<os::dims<M, F/Y>, of_width_t<decltype(layer::up)>>;
constexpr auto gather_down = plan<os::dims<F/Y, M>, of_width_t<decltype(layer::down)>>;
constexpr auto scatter_down =
    plan<os::dims<B/X, S, M/Y>, widened, os::sharding_of<F/Y, M>, decltype(os::reduce_result)>;

// Queries, keys and values share one gather: their own products gather weights alone.
static_assert(gather.communications() == 1 && gather.count(os::step::all_gather) == 1);
static_assert(project.communications() == 1 && project.count(os::step::all_gather) == 1);

struct line {
  char const* what;
  std::int64_t published, ours;
  std::string text;
};

}  // namespace

void print_plan() {
  std::int64_t const norm = 2 * statistics.bytes(real);
  std::int64_t const h = gather.bytes(real), weights = gather_projection.bytes(real);
  line const lines[] = {
      {"layer norm (two numbers a position)", norm, norm, os::describe(statistics, real)},
      {"h, gathered once for q, k, v", h, h, os::describe(gather, real)},
      {"q", weights, project.bytes(real), os::describe(project, real)},
      {"k", weights, project.bytes(real), ""},
      {"v", weights, project.bytes(real), ""},
      {"attention", 0, 0, ""},
      {"out", gather_out.bytes(real) + scatter_heads.bytes(real), out.bytes(real), os::describe(out, real)},
      {"layer norm", norm, norm, ""},
      {"up", h + gather_up.bytes(real), up.bytes(real), os::describe(up, real)},
      {"down", gather_down.bytes(real) + scatter_down.bytes(real), down.bytes(real), os::describe(down, real)},
  };
  std::printf("A layer of ESM2 15B on X=2 · Y=4, batch 8 of 512 tokens: bytes per device\n\n");
  for (line const& l : lines)
    if (!l.text.empty()) std::printf("%s: %s\n", l.what, l.text.c_str());
  std::printf("%-40s %16s %16s\n", "", "as published", "planned");
  std::int64_t published = 0, ours = 0;
  auto const row = [](char const* what, std::int64_t one, std::int64_t other) {
    std::printf("%-40s %16s %16s\n", what, os::planner::describe_bytes(one).c_str(),
                os::planner::describe_bytes(other).c_str());
  };
  for (line const& l : lines) {
    row(l.what, l.published, l.ours);
    published += l.published;
    ours += l.ours;
  }
  row("a layer", published, ours);
  row("48 layers", 48 * published, 48 * ours);

  // Which plan of the up product is the cheapest depends on the batch.
  std::printf("\nThe up product as the batch grows:\n");
  for (std::int64_t batch : {2, 8, 32, 128}) {
    os::sizes const grown(B = batch, S = 512, K = 512, M = 5120, N = 5120, H = 40, D = 128, F = 20480, X = 2, Y = 4);
    row(("batch " + std::to_string(batch)).c_str(), gather.bytes(grown) + gather_up.bytes(grown),
        up.for_sizes(grown).bytes(grown));
  }
}
