// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The search for rules finds the published strategies: for a feed-forward layer, ESM2 and a decoder on 8, 64 and 2,048
/// devices no published strategy is faster than its result, and if the literature names the best one, the search finds
/// that one.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/program/layers.hpp>
#include <ostraka/plan/rule_search/report.hpp>
#include <ostraka/plan/rule_search/rule_search.hpp>

using namespace ostraka::planner;

namespace {

struct strategy {
  char const* name;
  std::vector<std::pair<char const*, char const*>> rules;  // an axis, and the mesh axes that divide it
};

// In the terms of plan/program/layers.hpp, with X major.
std::vector<strategy> const published{
    {"data", {{"batch", "XY"}}},
    {"fully sharded", {{"batch", "XY"}, {"rows", "XY"}}},
    {"hybrid sharded", {{"batch", "XY"}, {"rows", "Y"}}},
    {"data, tensor", {{"batch", "X"}, {"inner", "Y"}, {"heads", "Y"}, {"vocabulary", "Y"}}},
    {"data, sequence, tensor",
     {{"batch", "X"}, {"between", "Y"}, {"inner", "Y"}, {"heads", "Y"}, {"vocabulary", "Y"}}},
    {"fully sharded, tensor", {{"batch", "X"}, {"rows", "X"}, {"inner", "Y"}, {"heads", "Y"}, {"vocabulary", "Y"}}},
    {"fully sharded, sequence, tensor",
     {{"batch", "X"}, {"rows", "X"}, {"between", "Y"}, {"inner", "Y"}, {"heads", "Y"}, {"vocabulary", "Y"}}},
    {"two-dimensional",  // ESM2
     {{"batch", "X"}, {"rows", "X"}, {"width", "Y"}, {"inner", "Y"}, {"heads", "Y"}, {"vocabulary", "Y"}}},
    {"tensor", {{"inner", "XY"}, {"heads", "XY"}, {"vocabulary", "XY"}}},
    {"sequence, tensor", {{"between", "XY"}, {"inner", "XY"}, {"heads", "XY"}, {"vocabulary", "XY"}}},
    {"context", {{"batch", "X"}, {"position", "Y"}, {"between", "Y"}, {"rows", "XY"}}},
};

bool find_rules(program const& p, device_mesh const& mesh, strategy const& s, axis_rules& rules) {
  rules.assign(p.axes.size(), {});
  for (auto const& [axis, over] : s.rules) {
    int const a = p.find_axis(axis);
    if (a < 0) continue;  // of another program
    for (char const* m = over; *m != '\0'; ++m) rules[static_cast<std::size_t>(a)].push_back(*m - 'X');
    std::int64_t const ways = mesh.ways(rules[static_cast<std::size_t>(a)].axes());
    if (p.axes[static_cast<std::size_t>(a)].extent % ways != 0) return false;
  }
  return true;
}

// The least time of a published strategy over all meshes of two axes; unbounded if it fits none.
double seconds_of_published(program const& p, strategy const& s, std::int64_t devices, machine const& on,
                            search_settings const& how, plan_table& plans) {
  program_flow const flow(p);
  double least = unbounded;
  for (std::int64_t x = 2; x < devices; ++x) {
    if (devices % x != 0) continue;
    device_mesh const mesh = mesh_on(on, {"X", "Y"}, {x, devices / x}, how.node_devices);
    axis_rules rules;
    if (!find_rules(p, mesh, s, rules)) continue;
    for (keeping kept : how.kept) {
      step_settings step = how.step;
      step.kept = kept;
      statement_prices prices(flow, mesh, on, step, plans);
      tensor_memory memory(flow, prices, step);
      ranked_rules const r = price_program(flow, mesh, rules, prices, memory, step);
      if (r.memory.total() <= on.memory_bytes && r.seconds < least) least = r.seconds;
    }
  }
  return least;
}

// `best`: the published strategy that is as fast as any; empty if there is none.
search_result compare(program const& p, std::int64_t devices, machine const& on, search_settings const& how,
                      std::string_view best) {
  search_result const found = search_rules(p, devices, on, how);
  INFO(p.name, " on ", devices, " devices\n", describe(p, found));
  REQUIRE(!found.ranked.empty());
  double const seconds = found.ranked[0].seconds;
  plan_table plans;
  for (strategy const& s : published) {
    double const its = seconds_of_published(p, s, devices, on, how, plans);
    INFO(s.name, " takes ", its);
    CHECK(seconds <= its * (1 + 1e-12));
    if (best == s.name) CHECK(seconds == doctest::Approx(its).epsilon(1e-12));
  }
  return found;
}

// Chooses the sizes of a batch by the tokens per device.
program layer_of(std::int64_t devices, std::int64_t tokens) {
  return programs::feed_forward({.width = 5120, .inner = 20480},
                                {.sequences = devices * tokens / 512, .length = 512});
}
program esm2_of(std::int64_t devices, std::int64_t tokens) {
  return programs::encoder({.width = 5120, .inner = 20480, .heads = 40, .head_width = 128, .layers = 48},
                           {.sequences = devices * tokens / 512, .length = 512});
}
program decoder_of(std::int64_t devices, std::int64_t tokens) {
  return programs::decoder({.width = 5120,
                            .inner = 13824,
                            .up_products = 2,
                            .heads = 40,
                            .head_width = 128,
                            .layers = 40,
                            .vocabulary = 32000},
                           {.sequences = devices * tokens / 4096, .length = 4096});
}

search_settings on_gpus() {
  search_settings how{.most = 3, .node_devices = 8};
  how.step.state_bytes = 12;  // two moments and the parameter in 32 bits
  return how;
}
search_settings on_tpus() {
  search_settings how{.most = 3};
  how.step.state_bytes = 12;
  return how;
}

}  // namespace

TEST_CASE("a feed-forward layer: data parallel with many tokens, tensor parallel with few, both between") {
  for (machine const& on : {machines::h100, machines::tpu_v5p}) {
    search_settings const how = on == machines::h100 ? on_gpus() : on_tpus();
    compare(layer_of(8, 16384), 8, on, how, "data");
    compare(layer_of(64, 16384), 64, on, how, "data");
    compare(layer_of(2048, 16384), 2048, on, how, "data");
    compare(layer_of(8, 64), 8, on, how, "");
  }
  search_result const few = search_rules(layer_of(8, 64), 8, machines::tpu_v5p, on_tpus());
  // width/X/Y between blocks takes the same time and memory, and is said by the axis that is named first.
  CHECK(line_to_paste(layer_of(8, 64), few.ranked[0]) == "constexpr os::rules<between/X/Y, inner/X/Y> R;");
}

TEST_CASE("… and where both are mixed, as many ways of each as the literature says") {
  // X = √(tokens / inner width · devices), to a power of two, on a torus whose mesh axes have as many links
  // ("How to Scale Your Model", chapter on training).
  for (std::int64_t devices : {64, 2048})
    for (std::int64_t tokens : {512, 1024, 2048}) {
      program const p = layer_of(devices, tokens);
      search_result const found = compare(p, devices, machines::tpu_v5p, on_tpus(), "");
      ranked_rules const& best = found.ranked[0];
      REQUIRE(best.mesh.axes() == 2);
      double const expected = std::sqrt(static_cast<double>(devices * tokens) / 20480.0 * static_cast<double>(devices));
      INFO(line_to_paste(p, best), ", ", expected);
      std::int64_t const data = best.mesh.ways(best.rules[static_cast<std::size_t>(p.find_axis("batch"))].axes());
      CHECK(static_cast<double>(data) <= 2 * expected);
      CHECK(static_cast<double>(data) >= expected / 2);
      CHECK(best.mesh.ways(best.rules[static_cast<std::size_t>(p.find_axis("inner"))].axes()) == devices / data);
    }
}

TEST_CASE("computing takes as long as moving where tokens a device are C/W") {
  // Fully sharded, forward: 2,550 tokens a device of a TPU v5p over one mesh axis.
  program const p = programs::feed_forward({.width = 8192, .inner = 32768}, {.sequences = 2550 * 64});
  device_mesh const mesh = mesh_on(machines::tpu_v5p, {"X"}, {64});
  program_flow const flow(p);
  plan_table plans;
  step_settings const forward{.training = false};
  statement_prices prices(flow, mesh, machines::tpu_v5p, forward, plans);
  tensor_memory memory(flow, prices, forward);
  axis_rules rules(p.axes.size());
  rules[static_cast<std::size_t>(p.find_axis("batch"))].push_back(0);
  rules[static_cast<std::size_t>(p.find_axis("rows"))].push_back(0);
  ranked_rules const r = price_program(flow, mesh, rules, prices, memory, forward);
  double const products =  // without the activation, which waits for memory
      r.flops / machines::tpu_v5p.flops_per_second.float16;
  CHECK(products == doctest::Approx(r.moving() * 64 / 63).epsilon(1e-3));
}

TEST_CASE("ESM2 with 15 billion parameters") {
  compare(esm2_of(8, 512), 8, machines::h100, on_gpus(), "");
  compare(esm2_of(8, 2048), 8, machines::h100, on_gpus(), "fully sharded, sequence, tensor");
  compare(esm2_of(64, 2048), 64, machines::tpu_v5p, on_tpus(), "");
  compare(esm2_of(2048, 512), 2048, machines::tpu_v5p, on_tpus(), "data, sequence, tensor");
  compare(esm2_of(2048, 2048), 2048, machines::h100, on_gpus(), "data, sequence, tensor");
  compare(esm2_of(2048, 16384), 2048, machines::h100, on_gpus(), "hybrid sharded");
}

TEST_CASE("a decoder with 13 billion parameters") {
  compare(decoder_of(8, 2048), 8, machines::h100, on_gpus(), "data, sequence, tensor");
  compare(decoder_of(64, 2048), 64, machines::h100, on_gpus(), "data, sequence, tensor");
  compare(decoder_of(64, 16384), 64, machines::tpu_v5p, on_tpus(), "");
  compare(decoder_of(2048, 512), 2048, machines::tpu_v5p, on_tpus(), "data, sequence, tensor");
  compare(decoder_of(2048, 2048), 2048, machines::h100, on_gpus(), "data, sequence, tensor");
  compare(decoder_of(2048, 16384), 2048, machines::h100, on_gpus(), "hybrid sharded");
}
