// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The clock of a described machine, on events made by hand, against plain arithmetic: computing, waiting, moves side
/// by side, and moves that take turns on their links.
// ranks: 1

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include <ostraka/engine/record/machine_clock.hpp>

namespace engine = ostraka::engine;
namespace planner = ostraka::planner;
using engine::collective;
using engine::event;
using engine::event_kind;
using engine::machine_clock;
using planner::link_shape;

namespace {

// A flop takes a microsecond, a byte of memory a nanosecond, a byte on a link a microsecond.
planner::machine machine() {
  planner::machine m;
  m.flops_per_second = {1e6, 2e6, 4e6, 8e6};
  m.memory_bytes_per_second = 1e9;
  m.links = {1e6, 0, link_shape::ring, true};
  return m;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

engine::mesh_axes const mesh{{"X", "Y"}, {4, 2}, {0, 0}, 0, true};

event computes(std::int64_t flops, std::int64_t memory, int element_bytes = 8) {
  event e;
  e.kind = event_kind::computes;
  e.flops = flops;
  e.memory = memory;
  e.element_bytes = element_bytes;
  return e;
}

event starts(std::uint64_t number, collective how, std::uint32_t over) {
  event e;
  e.kind = event_kind::starts;
  e.number = number;
  e.how = how;
  e.mesh = &mesh;
  e.over = over;
  e.members = (over & 1u ? 4 : 1) * (over & 2u ? 2 : 1);
  return e;
}

event finishes(std::uint64_t number, collective how, std::uint32_t over, std::int64_t bytes,
               std::int64_t messages = 1) {
  event e = starts(number, how, over);
  e.kind = event_kind::finishes;
  e.bytes = bytes;
  e.messages = messages;
  return e;
}

event begins(engine::region_kind kind, bool resumed = false) {
  event e;
  e.kind = event_kind::begins;
  e.region = kind;
  e.resumed = resumed;
  return e;
}

machine_clock run(planner::machine const& m, std::initializer_list<event> all) {
  machine_clock c(m);
  for (event const& e : all) c.on_event(e);
  return c;
}

constexpr std::uint32_t x = 1, y = 2;

}  // namespace

TEST_CASE("local work takes its flops or its memory, whichever is longer") {
  CHECK(near(run(machine(), {computes(100, 1000)}).now(), 100e-6));
  CHECK(near(run(machine(), {computes(100, 200000)}).now(), 200e-6));
  CHECK(near(run(machine(), {computes(100, 1000, 4), computes(100, 0, 2), computes(80, 0, 1)}).now(), 85e-6));
  CHECK(near(run(machine(), {computes(0, 3000, 0)}).now(), 3e-6));
}

TEST_CASE("a collective that is waited for at once takes its time") {
  // 4 devices on a ring, 75 of 100 bytes from either side.
  machine_clock const c = run(machine(), {computes(10, 0), starts(1, collective::all_gather, x),
                                          finishes(1, collective::all_gather, x, 75), computes(10, 0)});
  CHECK(near(c.now(), 10e-6 + 37.5e-6 + 10e-6));
  CHECK(near(c.waiting(), 37.5e-6));
  CHECK(near(c.communicating(), 37.5e-6));
  CHECK(near(c.computing(), 20e-6));
  CHECK(near(c.last_collective().begin, 10e-6));
  CHECK(near(c.last_collective().end, 47.5e-6));
  REQUIRE(c.by_kind().size() == 1);
  CHECK(c.by_kind()[0].how == collective::all_gather);
  CHECK(c.by_kind()[0].over == x);
  CHECK(c.by_kind()[0].number == 1);
  CHECK(near(c.by_kind()[0].seconds, 37.5e-6));
}

TEST_CASE("what is computed until a collective is waited for is beside it") {
  for (std::int64_t const flops : {10, 37, 38, 100}) {
    machine_clock const c = run(machine(), {starts(1, collective::all_gather, x), computes(flops, 0),
                                            finishes(1, collective::all_gather, x, 75)});
    double const computing = static_cast<double>(flops) * 1e-6;
    CHECK(near(c.now(), computing > 37.5e-6 ? computing : 37.5e-6));
    CHECK(near(c.now(), c.computing() + c.waiting()));
  }
}

TEST_CASE("over links that move nothing while a device computes it waits for all of it") {
  planner::machine m = machine();
  m.links.overlaps = false;
  machine_clock const c =
      run(m, {starts(1, collective::all_gather, x), computes(30, 0), finishes(1, collective::all_gather, x, 75)});
  CHECK(near(c.now(), 67.5e-6));
  CHECK(near(c.waiting(), 37.5e-6));
}

TEST_CASE("on the same links one comes after the other, on those of another axis of a torus beside it") {
  auto const two = [](std::uint32_t first, std::uint32_t second, planner::machine const& m) {
    return run(m, {starts(1, collective::all_gather, first), starts(2, collective::all_gather, second),
                   finishes(1, collective::all_gather, first, first == x ? 75 : 50),
                   finishes(2, collective::all_gather, second, second == x ? 75 : 50)});
  };
  CHECK(near(two(x, x, machine()).now(), 75e-6));
  CHECK(near(two(x, y, machine()).now(), 37.5e-6));
  CHECK(near(two(x, y, machine()).communicating(), 62.5e-6));
  CHECK(near(two(x | y, y, machine()).communicating(), 50e-6 / 4 + 25e-6));
  CHECK(near(two(x | y, y, machine()).now(), 50e-6 / 4 + 25e-6));  // the second waits for Y's links
  planner::machine switched = machine();
  switched.links.shape = link_shape::switched;
  CHECK(near(two(x, y, switched).now(), 125e-6));  // through the same adapter
  switched.links.bytes_per_second = 2e6;
  CHECK(near(two(x, y, switched.with("Y", {1e6, 0, link_shape::switched, true})).now(), 50e-6));  // each has its own
}

TEST_CASE("collectives by kind") {
  planner::machine m = machine();
  auto const alone = [&](collective how, std::int64_t bytes, std::int64_t messages) {
    return run(m, {starts(1, how, x), finishes(1, how, x, bytes, messages)}).now();
  };
  CHECK(near(alone(collective::all_reduce, 150, 1), 75e-6 + 225e-9));  // 75 bytes are added: 225 read and written
  CHECK(near(alone(collective::reduce_scatter, 75, 3), 37.5e-6 + 225e-9));
  CHECK(near(alone(collective::exchange, 75, 3), 400 / 8.0 * 1e-6));  // 400 bytes in all, an eighth of them a way
  CHECK(near(alone(collective::exchange, 100, 1), 100e-6));           // to the next device
  CHECK(near(alone(collective::exchange, 100, 2), 50e-6));            // in both directions
  CHECK(near(alone(collective::permute, 100, 1), 100e-6));
  CHECK(near(alone(collective::halo, 100, 2), 50e-6));
  CHECK(near(alone(collective::gather, 75, 3), 37.5e-6));
  CHECK(near(alone(collective::broadcast, 300, 1), 75e-6));
  CHECK(alone(collective::permute, 0, 0) == 0);
  m.links = {1e6, 1e-6, link_shape::ring, true};
  m.links.wraps_from = 5;  // four devices are a line: three blocks through one link; round it is three hops back
  CHECK(near(alone(collective::all_gather, 75, 3), 75e-6));
  CHECK(near(alone(collective::permute, 1, 1), 3e-6));
  CHECK(near(alone(collective::halo, 1, 1), 1e-6));
  m.links = {1e6, 1e-6, link_shape::switched, true};
  CHECK(near(alone(collective::all_gather, 75, 3), 78e-6));
  CHECK(near(alone(collective::exchange, 75, 3), 78e-6));
  CHECK(near(alone(collective::halo, 100, 2), 102e-6));
  event e = finishes(1, collective::all_gather, x, 75);
  e.mesh = nullptr;  // of a group without a mesh
  CHECK(near(run(m, {e}).now(), 78e-6));
}

TEST_CASE("messages of rows that the transport takes have rates of their own") {
  planner::machine m = machine();
  m.links = {1e6, 2e-6, link_shape::switched, true, 3e-6, 10};
  event e = finishes(1, collective::exchange, x, 75, 3);
  CHECK(near(run(m, {e}).now(), 3 * 5e-6 + 75e-6));
  m.links.of_rows.add({20, 0.5e6});
  m.links.of_rows.add({30, 1.5e6});
  CHECK(near(run(m, {e}).now(), 3 * 5e-6 + 75e-6));
  e.packed = 75;
  CHECK(near(run(m, {e}).now(), 3 * (40e-6 - 20e-6 * 5 / 10)));  // messages of 25 bytes, between 40 and 20 µs
  machine_clock const c = run(m, {starts(1, collective::exchange, x), computes(20, 0), e});
  CHECK(near(c.now(), 90e-6));
  CHECK(near(c.waiting(), 70e-6));
  m.links.of_rows = planner::rates_by_size();
  CHECK(near(run(m, {e}).now(), 3 * 5e-6 + 75e-6));  // the machine gives no figure for it
}

TEST_CASE("memory goes at the rate of all that an operation touches") {
  planner::machine m = machine();
  m.cache_bytes_per_second = 1e10;
  m.cache_bytes = 1000;
  m.memory_of_size.add({8000, 0.5e9});
  event op = begins(engine::region_kind::operation);
  CHECK(near(run(m, {op, computes(0, 1000)}).now(), 0.1e-6));
  op.memory = 1000;
  CHECK(near(run(m, {op, computes(0, 1000)}).now(), 0.1e-6));
  op.memory = 1001;
  CHECK(near(run(m, {op, computes(0, 1000)}).now(), 1e-6));
  op.memory = 8000;
  CHECK(near(run(m, {op, begins(engine::region_kind::step), computes(0, 1000)}).now(), 2e-6));
  event const none = begins(engine::region_kind::operation);
  CHECK(near(run(m, {op, none, computes(0, 1000), {}, computes(0, 1000), {}, computes(0, 1000)}).now(), 2.2e-6));
}

TEST_CASE("an axis that spans nodes has two levels") {
  planner::machine m = machine();
  m.links = {1e6, 0, link_shape::switched, true};
  m.between_nodes = {1e5, 0, link_shape::switched, true};
  engine::mesh_axes nodes = mesh;  // two devices of X, and both of Y, share a node
  nodes.within_node = {2, 2};
  auto const alone = [&](std::uint32_t over, std::int64_t bytes, engine::mesh_level level, int members) {
    event e = finishes(1, collective::all_gather, over, bytes);
    e.mesh = &nodes;
    e.level = level;
    e.members = members;
    return run(m, {e}).now();
  };
  using engine::mesh_level;
  CHECK(near(alone(x, 50, mesh_level::within_node, 2), 50e-6));
  CHECK(near(alone(x, 50, mesh_level::between_nodes, 2), 500e-6));
  CHECK(near(alone(x, 75, mesh_level::all, 4), 250e-6));  // 25 bytes come from the other node
  CHECK(near(alone(y, 50, mesh_level::all, 2), 50e-6));
  CHECK(near(alone(x | y, 70, mesh_level::all, 8), 100e-6));  // 10 of 80 bytes come over the network
  m.between_nodes = {};
  CHECK(near(alone(x, 50, mesh_level::between_nodes, 2), 50e-6));
}

TEST_CASE("an operation adds what it takes, once, whatever is within it and however often it is left") {
  planner::machine m = machine();
  m.operation_seconds = 1e-6;
  using engine::region_kind;
  event const end;
  CHECK(near(run(m, {begins(region_kind::program), begins(region_kind::operation), begins(region_kind::step), end,
                     begins(region_kind::operation), end, end, begins(region_kind::operation), end, end})
                 .now(),
             2e-6));
  CHECK(near(run(m, {begins(region_kind::operation), end, begins(region_kind::operation, true), end}).now(), 1e-6));
  CHECK(near(run(m, {end, begins(region_kind::operation)}).now(), 1e-6));
}
