// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Runs a program on meshes of all ranks, and on dry meshes as each of their devices: it costs each device the same,
/// and listeners to the engine's events get the same.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <ostraka/engine/record/events.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>

#include "support/no_call_check.hpp"
#include "support/on_meshes.hpp"

namespace ostraka::testing {

using mesh_of_tests = mesh<X_mesh, Y_mesh, Z_mesh>;
using cost_of_tests = cost<X_mesh, Y_mesh, Z_mesh>;

inline void check_same(cost_of_tests const& dry, cost_of_tests const& wet) {
  CHECK(dry.bytes == wet.bytes);
  CHECK(dry.messages == wet.messages);
  CHECK(dry.bytes_between_nodes == wet.bytes_between_nodes);
  CHECK(dry.flops == wet.flops);
  CHECK(dry.peak_memory == wet.peak_memory);
  CHECK(dry.memory_kept == wet.memory_kept);
  for (std::size_t set = 0; set < wet.over.size(); ++set) CHECK(dry.over[set].bytes == wet.over[set].bytes);
}

/// Meshes of all ranks.
template <class F>
void on_meshes_of_ranks(F const& f) {
  int const p = ranks();
  f(make_mesh(X = p, Y = 1, Z = 1));
  if (p > 1) f(make_mesh(X = 1, Y = p, Z = 1));
  if (p % 4 == 0) f(make_mesh(X = p / 2, Y = 2, Z = 1));
  if (p == 8) f(make_mesh(X = 2, Y = 2, Z = 2));
}

/// The sums of all events.
class sums_of_events final : public engine::listener {
 public:
  sums_of_events() { listen(scope::this_thread); }
  void on_event(engine::event const& e) override {
    using engine::event_kind;
    depth += e.kind == event_kind::begins ? 1 : e.kind == event_kind::ends ? -1 : 0;
    lowest = depth < lowest ? depth : lowest;
    in_flight += e.kind == event_kind::starts ? 1 : e.kind == event_kind::finishes ? -1 : 0;
    if (e.kind == event_kind::computes) flops += e.flops, memory += e.memory;
    if (e.kind == event_kind::begins) return;
    bytes += e.bytes;
    messages += e.messages;
    if (e.kind == event_kind::finishes) over[e.over & 7u] += e.bytes;
  }

  std::int64_t bytes = 0, messages = 0, flops = 0, memory = 0, over[8]{};
  int depth = 0, lowest = 0, in_flight = 0;
};

inline void check_same(sums_of_events const& recorded, cost_of_tests const& counted) {
  CHECK(recorded.bytes == counted.bytes);
  CHECK(recorded.messages == counted.messages);
  CHECK(recorded.flops == counted.flops);
  CHECK(recorded.depth == 0);
  CHECK(recorded.lowest == 0);
  CHECK(recorded.in_flight == 0);
  for (std::size_t set = 0; set < counted.over.size(); ++set) CHECK(recorded.over[set] == counted.over[set].bytes);
}

/// Runs on every mesh, and on every rank as its own device. `program(mesh)` is a function of the mesh alone.
template <class Program>
void costs_the_same(char const* name, Program const& program) {
  std::int64_t sent = 0;
  on_meshes_of_ranks([&](mesh_of_tests const& wet) {
    INFO(std::string(name), " on ", wet.handle()->describe());
    mesh_of_tests const dry = dry_mesh(as_device(wet.device()), X = wet.size(X), Y = wet.size(Y), Z = wet.size(Z));
    traffic const before = traffic_so_far();
    std::optional<sums_of_events> wet_events(std::in_place);
    cost_of_tests const counted = cost_of(wet, [&] { program(wet); });
    check_same(*wet_events, counted);
    wet_events.reset();
    traffic const after = traffic_so_far();
    sums_of_events dry_events;
    check_same(cost_of(dry, [&] { program(dry); }), counted);
    check_same(dry_events, counted);
    CHECK(dry_events.memory > 0);
    auto const sent_so_far = [&] {
      std::int64_t bytes = 0;
      for (std::uint32_t set = 1; set < counted.over.size(); ++set) bytes += dry.handle()->sent_over(set).bytes;
      return bytes;
    };
    std::int64_t const priced = sent_so_far();
    program(dry);  // without pricing, it computes
    CHECK(sent_so_far() - priced == counted.bytes);
    std::int64_t all = 0;
    for (std::int64_t bytes : numbers_of_ranks(counted.bytes)) all += bytes;
    CHECK(all == sum_over_ranks({after.bytes - before.bytes, 0}).bytes);
    CHECK(counted.peak_memory > 0);
    sent += all;
  });
  CHECK((sent > 0) == (ranks() > 1));
}

}  // namespace ostraka::testing
