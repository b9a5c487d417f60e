// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Named machines against the worked examples that are published for them, with (n − 1)/n where these round it to 1,
/// and each of their axes, open or closed as the machine is, against blocks that go hop by hop in plain loops
/// (network.hpp). "How to Scale Your Model" (Austin et al., 2025): chapters on TPUs, on sharding, and on GPUs.

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machines.hpp>

#include "plan/hardware/network.hpp"

namespace planner = ostraka::planner;
namespace machines = ostraka::planner::machines;
using planner::collective;
using planner::level;
using planner::link;
using planner::link_shape;
using planner::machine;
using planner::seconds;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

double gathered(machine const& m, int ways, double bytes) {
  return seconds(m.links, collective::all_gather, ways, bytes);
}

}  // namespace

TEST_CASE("TPU v5e: axes of fewer than 16 are open") {
  machine const& v5e = machines::tpu_v5e;
  // Chapter on sharding, quiz 2: bf16[2048, 8192] gathered over 4. Three shards of 8,388,608 bytes go through the one
  // link of an end at 4.5e10 a second: 559 µs (the chapter rounds to 560). Measured there: 680 µs.
  CHECK(near(gathered(v5e, 4, 2.0 * 2048 * 8192), 559.2405333e-6));
  CHECK(near(seconds(v5e.links, collective::reduce_scatter, 4, 2.0 * 2048 * 8192), 559.2405333e-6));
  CHECK(near(seconds(v5e.links, collective::all_reduce, 4, 2.0 * 2048 * 8192), 1118.4810667e-6));
  // The same quiz: bf16[256, 256] takes its three hops of 1 µs.
  CHECK(near(gathered(v5e, 4, 2.0 * 256 * 256), 3e-6));
  // An all-to-all of it over 4: through the middle link go the blocks of two devices for two, each a 16th of all:
  // 8,388,608 bytes.
  CHECK(near(seconds(v5e.links, collective::all_to_all, 4, 2.0 * 2048 * 8192), 186.4135111e-6));
  // A message of 4.5 MB to the next device takes 100 µs; a short one round an open axis of 8 goes back over 7 hops.
  CHECK(near(seconds(v5e.links, collective::permute, 8, 4.5e6), 100e-6));
  CHECK(near(seconds(v5e.links, collective::shift, 8, 4.5e6), 100e-6));
  CHECK(near(seconds(v5e.links, collective::permute, 8, 45), 1e-6));
  CHECK(near(seconds(v5e.links, collective::shift, 8, 45), 7e-6));
  // A full axis of 16 is a ring: 15/16 of 33,554,432 bytes at 9e10; 15 of 16 devices are none.
  CHECK(near(gathered(v5e, 16, 2.0 * 2048 * 8192), 349.5253333e-6));
  CHECK(near(gathered(v5e, 15, 4.5e8), 14.0 / 15 * 1e-2));
  CHECK(near(gathered(v5e, 16, 256), 8e-6));
  CHECK(near(seconds(v5e.links, collective::shift, 16, 45), 1e-6));
  // A slice of 8 × 16 "will have a wraparound on the longer axis" (chapter on TPUs): both together are a torus whose
  // corners receive 9e10 + 4.5e10 bytes a second; 8 × 8 has two links into a corner.
  level const slice[] = {{v5e.links, 8}, {v5e.links, 16}};
  CHECK(near(seconds(slice, 2, collective::all_gather, 1.35e9), 127.0 / 128 * 1e-2));
  level const square[] = {{v5e.links, 8}, {v5e.links, 8}};
  CHECK(near(seconds(square, 2, collective::all_gather, 9e8), 63.0 / 64 * 1e-2));
}

TEST_CASE("Trillium: as v5e, with links of 9e10") {
  CHECK(near(gathered(machines::trillium, 4, 2.0 * 2048 * 8192), 279.6202667e-6));
  CHECK(near(gathered(machines::trillium, 8, 9e8), 7.0 / 8 * 1e-2));
  CHECK(near(gathered(machines::trillium, 16, 1.8e9), 15.0 / 16 * 1e-2));
}

TEST_CASE("TPU v5p: axes of whole cubes wrap") {
  // Chapter on sharding, questions 2 and 3, on a cube of v4p, which is v5p with links of 4.5e10: "a wraparound link on
  // all axes because we have a full 4x4x4 cube".
  machine v4p = machines::tpu_v5p;
  v4p.links.bytes_per_second = 4.5e10;
  // bf16[1024, 4096] divided over Y, gathered over X: 3/4 of 2,097,152 bytes at 9e10 (23 µs without the 3/4).
  CHECK(near(gathered(v4p, 4, 2.0 * 1024 * 4096 / 4), 17.476266667e-6));
  // Over X and Y: 15/16 of 8,388,608 at twice that (46 µs without the 15/16).
  level const xy[] = {{v4p.links, 4}, {v4p.links, 4}};
  CHECK(near(seconds(xy, 2, collective::all_gather, 2.0 * 1024 * 4096), 43.690666667e-6));
  // bf16[128] over 4: two hops of 1 µs, on v5p as well.
  CHECK(near(gathered(v4p, 4, 256), 2e-6));
  CHECK(near(gathered(machines::tpu_v5p, 4, 256), 2e-6));
  // A slice of 2 × 2 × 1 has no wraparound: half of the bytes come through one link of 9e10.
  CHECK(near(gathered(machines::tpu_v5p, 2, 1.8e9), 1e-2));
  CHECK(near(gathered(machines::tpu_v5p, 4, 1.8e9), 3.0 / 4 * 1e-2));
  CHECK(near(gathered(machines::tpu_v5p, 28, 1.8e9), 27.0 / 28 * 1e-2));
  // A slice of 2 × 2 × 4 has none on its longer axis either, which a program says.
  link open = machines::tpu_v5p.links;
  open.shape = link_shape::line;
  CHECK(near(seconds(machines::tpu_v5p.with("Z", open).along("Z"), collective::all_gather, 4, 1.8e9), 1.5e-2));
}

TEST_CASE("H100: a node's GPUs send 450 GB a second each, nodes 400") {
  // Chapter on GPUs, quiz 2, question 3: bf16[4096, 65536] gathered in a node of eight, 7/8 of 536,870,912 bytes at
  // 4.5e11 (the chapter's 1.04 ms), and seven messages of 0.6 µs.
  CHECK(near(gathered(machines::h100, 8, 2.0 * 4096 * 65536), 1043.915662e-6 + 4.2e-6));
  // Between nodes each of the eight has an adapter of 50 GB a second, which is a node's 400.
  CHECK(near(8 * machines::h100.between_nodes.bytes_per_second, 4e11));
}

TEST_CASE("a cluster of CPUs: an adapter of 200 Gb a second") {
  // 3/4 of 100 MB at 2.5e10, and three messages of 2 µs.
  CHECK(near(gathered(machines::cpu_cluster, 4, 1e8), 3006e-6));
}

TEST_CASE("each machine's axes against blocks that go hop by hop") {
  int open = 0, closed = 0;
  for (machine const& m : machines::all) {
    link const& l = m.links;
    if (l.shape != link_shape::ring) continue;
    CAPTURE(m.name.text);
    for (int n = 2; n <= 24; ++n)
      for (double const bytes : {64.0, 3e5, 1e8}) {
        CAPTURE(n);
        bool const wraps = n >= (m == machines::tpu_v5p ? 4 : 16);
        (wraps ? closed : open) += 1;
        auto const longer = [&](network::outcome const& o) {
          return std::max(o.most / l.bytes_per_second, o.rounds * l.hop_seconds);
        };
        double const once = longer(network::gather(n, bytes, wraps));
        CHECK(near(seconds(l, collective::all_gather, n, bytes), once));
        CHECK(near(seconds(l, collective::reduce_scatter, n, bytes), once));
        CHECK(near(seconds(l, collective::all_reduce, n, bytes), 2 * once));
        CHECK(near(seconds(l, collective::to_root, n, bytes), once));
        CHECK(near(seconds(l, collective::all_to_all, n, bytes), longer(network::all_to_all(n, bytes, wraps))));
        CHECK(near(seconds(l, collective::shift, n, bytes), longer(network::shift(n, bytes, wraps))));
      }
  }
  CHECK(open > 80);
  CHECK(closed > 100);
}

TEST_CASE("a closed and an open axis together are a torus") {
  // A part p of the bytes goes along the ring first, and the line then; the rest goes the other way round. The best
  // part loads both alike.
  double const rate = 1e9;
  link const ring{rate, 0, link_shape::ring, true};
  link const line{rate, 0, link_shape::line, true};
  for (int closed = 3; closed <= 9; ++closed)
    for (int open = 2; open <= 9; ++open) {
      CAPTURE(closed);
      CAPTURE(open);
      double const bytes = 1e6;
      auto const loads = [&](double p) {
        double const on_ring = network::gather(closed, p * bytes / open, true).most +
                               network::gather(closed, (1 - p) * bytes, true).most;
        double const on_line = network::gather(open, p * bytes, false).most +
                               network::gather(open, (1 - p) * bytes / closed, false).most;
        return std::pair(on_ring, on_line);
      };
      double low = 0, high = 1;  // with p the line's load grows, and the ring's shrinks
      for (int i = 0; i < 60; ++i) {
        double const p = (low + high) / 2;
        auto const [on_ring, on_line] = loads(p);
        (on_ring > on_line ? low : high) = p;
      }
      auto const [on_ring, on_line] = loads(low);
      REQUIRE(near(on_ring, on_line));
      level const both[] = {{ring, closed}, {line, open}};
      CHECK(near(seconds(both, 2, collective::all_gather, bytes), on_ring / rate));
      CHECK(near(seconds(both, 2, collective::all_reduce, bytes), 2 * on_ring / rate));
    }
}
