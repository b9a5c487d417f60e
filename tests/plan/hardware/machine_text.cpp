// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Machines as texts: a written machine is read again to the last bit, text that people write is understood, and an
/// error names its line.

#include <string>

#include <doctest/doctest.h>

#include <ostraka/plan/hardware/machine_text.hpp>
#include <ostraka/plan/hardware/machines.hpp>

namespace planner = ostraka::planner;
namespace machines = ostraka::planner::machines;
using planner::link;
using planner::link_shape;
using planner::machine;
using planner::machine_as_text;
using planner::machine_from_text;

namespace {

std::string complaint(std::string const& text) {
  try {
    static_cast<void>(machine_from_text(text, "here.machine"));
  } catch (ostraka::error const& e) {
    return e.what();
  }
  return "";
}

bool complains(std::string const& text, std::string const& of) {
  std::string const said = complaint(text);
  INFO(said);
  bool const good = said.find(of) != std::string::npos;
  CHECK(good);
  return good;
}

}  // namespace

TEST_CASE("what is written is read again") {
  for (machine const& m : machines::all) {
    CHECK(machine_from_text(machine_as_text(m)) == m);
    machine other = m.with("X", {1.0 / 3, 1e-7 / 3, link_shape::line, false}).with("rows", m.links);
    other = other.with("slow", {7, 1e-5, link_shape::switched, true, 0.1, 4096});
    other = other.with("slower", {7, 1e-5, link_shape::switched, false, 0.1, 0, false});
    other = other.with("slowest", {7, 1e-5, link_shape::switched, true, 0, 0, false});
    other.operation_seconds = 0.1;
    other.memory_bytes_per_second = 1e-300;
    other.cache_bytes_per_second = 2.0 / 3;
    other.cache_bytes = 1 << 22;
    link by_size{7, 1e-5, link_shape::switched, false, 0.1, 4096, false};
    link in_rows{7, 1e-5, link_shape::switched, true};
    in_rows.of_rows.add({1.0 / 3, 1.0 / 9});
    for (int i = 1; i <= planner::rates_by_size::most; ++i) {
      by_size.of_size.add({i * 1e6 / 3, 1e9 / i});
      by_size.of_rows.add({i * 1e5 / 3, 1e8 / i});
      other.memory_of_size.add({i * 1e6 / 7, 2e9 / i});
    }
    other = other.with("long", by_size).with("apart", in_rows);
    other.reductions_of_size.add({1.0 / 3, 1});
    other.reduction_bytes_per_second = 1.0 / 7;
    other.memory_waits = 1.0 / 3;
    for (int i = 1; i <= planner::rates_by_size::most; ++i) other.shares.add({i * 10.0 / 3, i / 13.0});
    CHECK(machine_from_text(machine_as_text(other)) == other);
  }
  machine nothing;
  CHECK(machine_from_text(machine_as_text(nothing)) == nothing);  // one device needs no links
  nothing.links.bytes_per_second = 1;
  CHECK(machine_from_text(machine_as_text(nothing)) == nothing);
  nothing.name = "node #3\nlinks = ring 2 2";
  CHECK(machine_from_text(machine_as_text(nothing)).links == nothing.links);
  CHECK(machine_from_text(machine_as_text(nothing)).name.view() == "node  3 links = ring 2 2");
}

TEST_CASE("what people write") {
  machine const m = machine_from_text(
      "# measured on a Sunday\n"
      "name = two ranks of a Zen 5   # and not more\r\n"
      "\n"
      "  flops.float64=5e10\n"
      "flops.float32 = 100000000000\n"
      "flops.float16 =\t7e9\n"
      "flops.int8 = 1\n"
      "memory.bytes_per_second = 1.25e10\n"
      "memory.bytes = 2e9\n"
      "cache.bytes_per_second = 4e10\n"
      "cache.bytes = 4194304\n"
      "operation.seconds = .5e-6\n"
      "links = switched 8e9 1.1e-6\n"
      "memory.sizes = 1e6 3e10  4e7 1e10\n"
      "reduction.bytes_per_second = 2e10\n"
      "reduction.sizes = 3e7 2e9\n"
      "links.U = switched 8e9 1.1e-6 handshake 2.4e-6 4096 sizes 1e6 7e9 4e6 3e9 rows 8e3 4e9 3e5 6e9 blocking\n"
      "links.S = switched 8e9 1.1e-6 rows 8e3 4e9\n"
      "links.T = switched 8e9 1.1e-6 sizes 1e6 7e9\n"
      "nodes = switched 2e9 2e-5 blocking\n"
      "links.X = ring   9e10 1e-6 shared\n"
      "links.Y = line 1 0\n"
      "links.Q = ring 4.5e10 1e-6 wraps 16\n"
      "links.R = ring 4.5e10 1e-6 shared wraps 4 blocking\n"
      "links.W = switched 8e9 1.1e-6 handshake 2.4e-6 4096\n"
      "links.V = switched 8e9 1.1e-6 shared handshake 2.4e-6 4096");
  CHECK(m.name.view() == "two ranks of a Zen 5");
  CHECK(m.flops_per_second == planner::compute_rates{5e10, 1e11, 7e9, 1});
  CHECK(m.memory_bytes_per_second == 1.25e10);
  CHECK(m.memory_bytes == 2e9);
  CHECK(m.cache_bytes_per_second == 4e10);
  CHECK(m.cache_bytes == 1 << 22);
  CHECK(m.operation_seconds == .5e-6);
  CHECK(m.links == planner::link{8e9, 1.1e-6, link_shape::switched, true});
  CHECK(m.between_nodes == planner::link{2e9, 2e-5, link_shape::switched, true, 0, 0, false});
  CHECK(m.along("X") == planner::link{9e10, 1e-6, link_shape::ring, false});
  CHECK(m.along("Y") == planner::link{1, 0, link_shape::line, true});
  CHECK(m.along("Q") == planner::machines::tpu_v5e.links);
  CHECK(m.along("R").wraps_from == 4);
  CHECK((!m.along("R").overlaps && !m.along("R").both_ways));
  CHECK(m.along("X").wraps_from == 0);
  CHECK(m.along("W") == planner::link{8e9, 1.1e-6, link_shape::switched, true, 2.4e-6, 4096});
  CHECK(m.along("V") == planner::link{8e9, 1.1e-6, link_shape::switched, false, 2.4e-6, 4096});
  CHECK(m.along("Z") == m.links);
  link by_size{8e9, 1.1e-6, link_shape::switched, true};
  by_size.of_size.add({1e6, 7e9});
  CHECK(m.along("T") == by_size);
  link in_rows{8e9, 1.1e-6, link_shape::switched, true};
  in_rows.of_rows.add({8e3, 4e9});
  CHECK(m.along("S") == in_rows);
  by_size.of_size.add({4e6, 3e9});
  by_size.of_rows = in_rows.of_rows;
  by_size.of_rows.add({3e5, 6e9});
  by_size.handshake_seconds = 2.4e-6;
  by_size.handshake_bytes = 4096;
  by_size.overlaps = false;
  CHECK(m.along("U") == by_size);
  CHECK(m.reduction_bytes_per_second == 2e10);
  CHECK(m.reductions_of_size.count == 1);
  CHECK(m.reductions_of_size.at[0] == planner::rate_at{3e7, 2e9});
  CHECK(m.memory_of_size.count == 2);
  CHECK(m.memory_of_size.at[1] == planner::rate_at{4e7, 1e10});
  CHECK(machine_from_text("") == machine{});
  machine const shaped = machine_from_text("flops.shares = 20 0.3 80 0.7\nmemory.waits = 0.5");
  CHECK(shaped.shares.count == 2);
  CHECK(shaped.shares.at[1] == planner::rate_at{80, 0.7});
  CHECK(shaped.memory_waits == 0.5);
}

TEST_CASE("what is wrong is said with its line") {
  complains("name = a\nflops.float64 5e10",
            "here.machine, line 2: a line is `what = value`, but this is \"flops.float64 5e10\"");
  complains("flops.float65 = 1", "line 1: no machine has \"flops.float65\"; it has name, flops.float64");
  complains("\n\nflops.int8 = many", "line 3: flops.int8 is a number, 0 or more, but \"many\" is none");
  for (char const* value : {"", "-1", "1e", "1 2", "nan", "inf", "1e999", "0x10", "5e10 /s"})
    complains(std::string("memory.bytes = ") + value, "memory.bytes is a number, 0 or more");
  for (char const* value :
       {"", "ring", "ring 1", "star 1 1", "ring 1 1 half", "ring 1 1 shared more", "1 1 1", "ring 1 1 handshake",
        "ring 1 1 handshake 1", "ring 1 1 handshake 1 1 1", "ring 1 1 handshake 1 1 shared", "ring 1 1 blocking 1",
        "ring 1 1 blocking shared", "ring blocking", "ring 1 1 wraps", "ring 1 1 wraps 4 4", "ring 1 1 wraps 4 shared",
        "line 1 1 wraps 4", "switched 1 1 wraps 4"})
    complains(std::string("links = ") + value, "line 1: links are `ring`, `line` or `switched`");
  complains("links.X = ring x 1", "bytes a second is a number");
  complains("links.X = ring 1 -1", "seconds a hop is a number");
  complains("links = switched 1 1 handshake no 1", "seconds of a handshake is a number");
  complains("links = switched 1 1 handshake 1 no", "bytes without a handshake is a number");
  complains("links = ring 0 1", "links carry bytes");
  complains("links = ring 1 1 wraps 1.5", "wraps is a whole number of devices, but this is 1.5");
  complains("links = ring 1 1 wraps 1e300", "wraps is a whole number of devices");
  complains("links = ring 1 1 wraps -1", "wraps is a number, 0 or more");
  std::string thirteen;
  for (int i = 1; i <= 13; ++i) thirteen += std::to_string(i) + " 1 ";
  for (std::string const& value : {std::string(), std::string("1"), std::string("1 1 1"), std::string("2 1 1 1"),
                                   std::string("1 1 1 1"), std::string("0 1"), std::string("1 0"), thirteen}) {
    complains("flops.shares = " + value, "line 1: flops.shares are pairs, flops an element and the share");
    complains("memory.sizes = " + value,
              "line 1: sizes are pairs, bytes and bytes a second, the shorter first, 12 at most");
    complains("reduction.sizes = " + value, "sizes are pairs");
    complains("links = switched 1 1 sizes " + value, "sizes are pairs");
    complains("links = switched 1 1 handshake 1 1 sizes " + value + " blocking", "sizes are pairs");
    complains("links = switched 1 1 rows " + value, "sizes are pairs");
    complains("links = switched 1 1 sizes 1 1 rows " + value + " blocking", "sizes are pairs");
  }
  complains("memory.waits = 1.5", "line 1: memory.waits is a part, from 0 to 1, but this is 1.5");
  complains("memory.waits = -1", "memory.waits is a number, 0 or more");
  complains("memory.sizes = a b", "a size in bytes is a number");
  complains("links = ring 1 1 sizes 1 b", "bytes a second at a size is a number");
  complains("links = ring 1 1 sizes 1 1 shared", "sizes are pairs");
  complains("links = ring 1 1 sizes 1 1 blocking 1", "line 1: links are `ring`, `line` or `switched`");
  complains("links. = ring 1 1", "no machine has \"links.\"");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "links.axis" + std::to_string(i) + " = ring 1 1\n";
  complains(many, "line 17: links are given for 16 mesh axes at most");
}
