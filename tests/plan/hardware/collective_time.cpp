// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Seconds of collectives: formulas against blocks that travel hop by hop in plain loops (network.hpp), for every
/// number of devices to 24, and the literature's worked examples.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/spec/blocks.hpp>

#include "plan/every_spec.hpp"
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

constexpr double rate = 1e9;

bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

// Bytes that make either the wire or the hops the longer.
constexpr double many[] = {64, 3e3, 5e4, 1e7};

void compare_ring_or_line(bool wraps) {
  for (double const hop : {0.0, 1e-6})
    for (bool const both_ways : {true, false})
      for (int n = 2; n <= 24; ++n)
        for (double const bytes : many) {
          CAPTURE(n);
          CAPTURE(bytes);
          link const l{rate, hop, wraps ? link_shape::ring : link_shape::line, both_ways};
          auto const longer = [&](network::outcome const& o) {
            CHECK(o.complete);
            return std::max((both_ways ? o.most : o.most_of_both) / rate, o.rounds * hop);
          };
          double const gathered = longer(network::gather(n, bytes, wraps));
          CHECK(same(seconds(l, collective::all_gather, n, bytes), gathered));
          CHECK(same(seconds(l, collective::reduce_scatter, n, bytes), gathered));
          CHECK(same(seconds(l, collective::all_reduce, n, bytes), 2 * gathered));
          CHECK(same(seconds(l, collective::all_to_all, n, bytes), longer(network::all_to_all(n, bytes, wraps))));
          CHECK(same(seconds(l, collective::permute, n, bytes), std::max(bytes / rate, hop)));
          CHECK(same(seconds(l, collective::shift, n, bytes), longer(network::shift(n, bytes, wraps))));
        }
}

constexpr link ring(double hop) { return {rate, hop, link_shape::ring, true}; }

}  // namespace

TEST_CASE("on rings and lines blocks take as long hop by hop") {
  compare_ring_or_line(true);
  compare_ring_or_line(false);
}

TEST_CASE("through a switch each message takes its latency, and a device receives one byte after the other") {
  for (int n = 2; n <= 24; ++n)
    for (double const bytes : many) {
      link const l{rate, 1e-6, link_shape::switched, true};
      network::switched_outcome const gather = network::gather_switched(n, bytes);
      network::switched_outcome const exchange = network::all_to_all_switched(n, bytes);
      double const gathered = gather.messages * 1e-6 + gather.most_in / rate;
      CHECK(same(seconds(l, collective::all_gather, n, bytes), gathered));
      CHECK(same(seconds(l, collective::reduce_scatter, n, bytes), gathered));
      CHECK(same(seconds(l, collective::to_root, n, bytes), gathered));
      CHECK(same(seconds(l, collective::all_to_all, n, bytes), exchange.messages * 1e-6 + exchange.most_in / rate));
      CHECK(same(seconds(l, collective::all_reduce, n, bytes),
                 2 * (std::ceil(std::log2(double(n))) * 1e-6 + gather.most_in / rate)));
      CHECK(same(seconds(l, collective::permute, n, bytes), 1e-6 + bytes / rate));
      link const one_way{rate, 1e-6, link_shape::switched, false};
      CHECK(same(seconds(one_way, collective::all_gather, n, bytes), gathered + gather.most_in / rate));
    }
}

TEST_CASE("messages that are long take a handshake besides") {
  link l{rate, 1e-6, link_shape::switched, true};
  link const short_ones = l;
  l.handshake_seconds = 2e-6;
  l.handshake_bytes = 1000;
  struct {
    collective what;
    double bytes, messages;
  } const limits[] = {{collective::all_gather, 4000, 3},
                      {collective::reduce_scatter, 4000, 3},
                      {collective::all_reduce, 4000, 4},
                      {collective::all_to_all, 16000, 3},
                      {collective::permute, 1000, 1}};
  for (auto const& at : limits) {
    CHECK(seconds(l, at.what, 4, at.bytes) == seconds(short_ones, at.what, 4, at.bytes));
    CHECK(same(seconds(l, at.what, 4, at.bytes + 16),
               seconds(short_ones, at.what, 4, at.bytes + 16) + at.messages * 2e-6));
  }
}

TEST_CASE("rates depend on a message's size, and between two sizes time is linear") {
  link l{rate, 1e-6, link_shape::switched, true};
  l.of_size.add({1000, 1e9});
  l.of_size.add({2000, 5e8});  // 4 us
  l.of_size.add({4000, 8e9});  // half of one
  struct {
    double bytes, wire;
  } const known[] = {{500, .5e-6},    {1000, 1e-6},  {1500, 2.5e-6}, {2000, 4e-6},
                     {3000, 2.25e-6}, {4000, .5e-6}, {8000, 1e-6}};
  for (auto const& k : known) {
    CAPTURE(k.bytes);
    CHECK(same(seconds(l, collective::permute, 4, k.bytes), 1e-6 + k.wire));
    for (int n = 2; n <= 8; ++n) {
      double const messages = n - 1;
      CHECK(same(seconds(l, collective::all_gather, n, n * k.bytes), messages * (1e-6 + k.wire)));
      CHECK(same(seconds(l, collective::reduce_scatter, n, n * k.bytes), messages * (1e-6 + k.wire)));
      CHECK(same(seconds(l, collective::all_to_all, n, n * n * k.bytes), messages * (1e-6 + k.wire)));
    }
    link shared = l;
    shared.both_ways = false;
    CHECK(same(seconds(shared, collective::all_gather, 4, 4 * k.bytes), 3 * (1e-6 + 2 * k.wire)));
  }
  // Halves, then quarters.
  CHECK(same(seconds(l, collective::all_reduce, 2, 3000), 2 * (1e-6 + 2.5e-6)));
  CHECK(same(seconds(l, collective::all_reduce, 4, 4000), 2 * (2e-6 + 4e-6 + 1e-6)));
  CHECK(same(seconds(l, collective::all_reduce, 3, 4000), 2 * (2e-6 + (4e-6 + 1e-6) * (2.0 / 3) / (3.0 / 4))));
}

TEST_CASE("passes over memory by size, and what an all-reduce reduces") {
  machine m;
  m.memory_bytes_per_second = 1e9;
  m.memory_of_size.add({1000, 2e9});
  m.memory_of_size.add({3000, 1e9});
  CHECK(same(planner::memory_seconds(m, 500), .5e-6));
  CHECK(same(planner::memory_seconds(m, 1000), .5e-6));
  CHECK(same(planner::memory_seconds(m, 2000), .5 * (.5e-6 + 3e-6)));
  CHECK(same(planner::memory_seconds(m, 4000), 4e-6));
  CHECK(same(planner::memory_seconds(m, 500, 2000), .5 * (.5e-6 + 3e-6) / 4));  // among 2000 bytes
  CHECK(same(planner::memory_seconds(m, 4000, 2000), 4e-6));
  CHECK(planner::memory_seconds(m, 0, 2000) == 0);
  machine sizes_alone = m;  // below the first of them its rate counts
  sizes_alone.memory_bytes_per_second = 0;
  CHECK(same(planner::memory_seconds(sizes_alone, 500), .25e-6));
  CHECK(same(planner::memory_seconds(sizes_alone, 2000), planner::memory_seconds(m, 2000)));
  sizes_alone.reductions_of_size.add({1000, 1e9});
  CHECK(same(planner::reduction_seconds(sizes_alone, collective::all_reduce, 2, 1000), .5e-6));
  m.cache_bytes = 1500;
  m.cache_bytes_per_second = 1e10;
  CHECK(same(planner::memory_seconds(m, 1500), .15e-6));
  CHECK(same(planner::memory_seconds(m, 2000), .5 * (.5e-6 + 3e-6)));
  CHECK(same(planner::reduction_seconds(m, collective::all_reduce, 4, 4000), 9e-6));  // three passes over what arrives
  m.reduction_bytes_per_second = 3e9;
  CHECK(same(planner::reduction_seconds(m, collective::all_reduce, 4, 4000), 1e-6));
  CHECK(same(planner::reduction_seconds(m, collective::reduce_scatter, 4, 4000), 9e-6));
  m.reductions_of_size.add({1000, 3e9});
  m.reductions_of_size.add({3000, 5e8});
  CHECK(same(planner::reduction_seconds(m, collective::all_reduce, 4, 4000), 6e-6));
  CHECK(planner::reduction_seconds(m, collective::all_gather, 4, 4000) == 0);
}

TEST_CASE("an all-to-all is n/(4(n-1)) of a gather on an even ring, (n+1)/(4n) on an odd one") {
  for (int n = 2; n <= 64; ++n) {
    double const part =
        seconds(ring(0), collective::all_to_all, n, 1e9) / seconds(ring(0), collective::all_gather, n, 1e9);
    CHECK(same(part, n % 2 == 0 ? n / (4.0 * (n - 1)) : (n + 1) / (4.0 * n)));
  }
}

TEST_CASE("two axes of a torus gather twice as fast, in either order half of the bytes; so they do without its wrap") {
  for (bool const wraps : {true, false}) {
    link const axis{rate, 1e-6, wraps ? link_shape::ring : link_shape::line, true};
    for (int n = 2; n <= 12; ++n)
      for (double const bytes : many) {
        level const both[] = {{axis, n}, {axis, n}};
        network::outcome const o = network::gather_on_torus(n, bytes, wraps);
        double const expected = std::max(o.most / rate, o.rounds * 1e-6);
        CHECK(same(seconds(both, 2, collective::all_gather, bytes), expected));
        CHECK(same(seconds(both, 2, collective::all_reduce, bytes), 2 * expected));
        for (int rows = 2; rows <= 6; ++rows) {
          level const torus[] = {{axis, rows}, {axis, n}};
          network::outcome const e = network::all_to_all_on_torus(rows, n, bytes, wraps);
          CHECK(same(seconds(torus, 2, collective::all_to_all, bytes), std::max(e.most / rate, e.rounds * 1e-6)));
        }
      }
  }
}

TEST_CASE("of levels the slowest counts") {
  link const fast{4.5e11, 0, link_shape::switched, true};
  link const slow{5e10, 0, link_shape::switched, true};
  // 8 GPUs a node, 16 nodes: each device gathers its own 16th from the other nodes, an eighth of all, then the eighths
  // of the node.
  for (bool slow_first : {true, false}) {
    level const node[] = {slow_first ? level{slow, 16} : level{fast, 8}, slow_first ? level{fast, 8} : level{slow, 16}};
    CHECK(
        same(seconds(node, 2, collective::all_gather, 8e9), std::max(15.0 / 16 * 1e9 / 5e10, 7.0 / 8 * 8e9 / 4.5e11)));
    CHECK(same(seconds(node, 2, collective::all_to_all, 128e9), 15.0 / 16 * 1e9 / 5e10));
    CHECK(same(seconds(node, 2, collective::permute, 1e9), 1e9 / 5e10));
  }
  level const wide[] = {{slow, 2}, {fast, 256}};
  CHECK(same(seconds(wide, 2, collective::all_gather, 8e9), 255.0 / 256 * 8e9 / 4.5e11));
}

TEST_CASE("axes that share a switch are one level of all their devices") {
  link const nvlink{rate, 1e-6, link_shape::switched, true};
  link const slow{rate / 8, 1e-5, link_shape::switched, true};
  for (collective const what : {collective::all_gather, collective::reduce_scatter, collective::all_reduce,
                                collective::all_to_all, collective::permute, collective::to_root})
    for (int x = 1; x <= 4; ++x)
      for (int y = 1; y <= 4; ++y)
        for (double const bytes : many) {
          level const both[] = {{nvlink, x}, {nvlink, y}};
          CHECK(same(seconds(both, 2, what, bytes), seconds(nvlink, what, x * y, bytes)));
          level const nodes[] = {{nvlink, x}, {slow, 3}, {nvlink, y}};
          level const joined[] = {{slow, 3}, {nvlink, x * y}};
          CHECK(same(seconds(nodes, 3, what, bytes), seconds(joined, 2, what, bytes)));
        }
  // Sixteen devices through one switch: each takes fifteen parts of sixteen.
  level const four_by_four[] = {{nvlink, 4}, {nvlink, 4}};
  network::switched_outcome const o = network::gather_switched(16, 1e9);
  CHECK(same(seconds(four_by_four, 2, collective::all_gather, 1e9), o.messages * 1e-6 + o.most_in / rate));
}

TEST_CASE("axes of one device count nothing") {
  level const one[] = {{ring(1e-6), 1}, {ring(1e-6), 1}};
  CHECK(seconds(one, 2, collective::all_gather, 1e9) == 0);
  level const two[] = {{ring(1e-6), 1}, {ring(1e-6), 4}};
  CHECK(seconds(two, 2, collective::all_gather, 1e9) == seconds(ring(1e-6), collective::all_gather, 4, 1e9));
}

TEST_CASE("whole bytes are what plans count, turned round") {
  // 4 devices, 100 bytes: the table at the head of plan/spec/step.hpp.
  CHECK(same(planner::whole_bytes(collective::all_gather, 4, 75), 100));
  CHECK(same(planner::whole_bytes(collective::reduce_scatter, 4, 75), 100));
  CHECK(same(planner::whole_bytes(collective::all_reduce, 4, 150), 100));
  CHECK(same(planner::whole_bytes(collective::all_to_all, 4, 18.75), 100));
  CHECK(planner::whole_bytes(collective::permute, 4, 25) == 25);
  CHECK(planner::whole_bytes(collective::shift, 4, 25) == 25);
}

TEST_CASE("the literature's numbers") {
  // int8[128, 2048] as A[I_XY, J] on X = 2, Y = 8, Z = 2: 16,384 bytes a device, 512 KiB in all.
  planner::extents const e = ostraka::testing::make_extents(2, {128, 2048}, {2, 8, 2});
  planner::spec a = ostraka::testing::every_spec({0, 1}, 0).front();
  a.over[0].push_back(0);
  a.over[0].push_back(1);
  CHECK(planner::largest_block(a, e) == 16384);
  CHECK(planner::held_by_all(a, e) == 512 * 1024);

  // Data parallelism between pods of 3.8e18 operations and 5e13 bytes a second: a backward pass of 4 · tokens ·
  // parameters hides an all-reduce of 2 bytes each from 76,000 tokens a pod on.
  machine const pod{
      .name = "pod", .flops_per_second = {0, 0, 3.8e18, 0}, .links = {5e13, 0, link_shape::switched, true}};
  double const parameters = 1e12;
  double const summing = seconds(pod.links, collective::all_reduce, 1000000, 2 * parameters);
  CHECK(planner::local_seconds(pod, 4 * 75900 * parameters, 2, 0) < summing);
  CHECK(planner::local_seconds(pod, 4 * 76100 * parameters, 2, 0) > summing);

  // Trillium: 5,100 operations in the time of a byte over one axis.
  CHECK(same(machines::trillium.flops_per_second.of(2) / (2 * machines::trillium.links.bytes_per_second), 5100));
  CHECK(std::floor(917e12 / (2 * machines::trillium.links.bytes_per_second)) == 5094);
  // v5p: 2,550.
  CHECK(same(machines::tpu_v5p.flops_per_second.of(2) / (2 * machines::tpu_v5p.links.bytes_per_second), 2550));
}

TEST_CASE("fully sharded and tensor parallel together: 940 tokens a device on v5p for a layer 13,824 wide") {
  // Weights are gathered over two axes of the torus, activations gathered and scattered over the third: X_opt devices
  // for the former. The formula is that of long axes, where (n−1)/n is 1 and hops are hidden.
  machine const& m = machines::tpu_v5p;
  double const width = 13824, model = 5120, devices = 8192;
  auto const hidden = [&](double tokens_per_device) {
    double const tokens = tokens_per_device * devices;
    double const x = std::sqrt(tokens / width * 2 * devices);  // M_X = 2, M_Y = 1
    double const y = devices / x;
    link without_hops = m.links;
    without_hops.hop_seconds = 0;
    level const axes[] = {{without_hops, 1 << 24}, {without_hops, 1 << 24}};
    double const weights = 2 * seconds(axes, 2, collective::all_gather, 2 * model * width / y);
    double const activations = seconds(axes, 1, collective::all_gather, 2 * tokens * model / x) +
                               seconds(axes, 1, collective::reduce_scatter, 2 * tokens * model / x);
    return planner::local_seconds(m, 4 * tokens_per_device * model * width, 2, 0) > weights + activations;
  };
  CHECK_FALSE(hidden(940));
  CHECK(hidden(942));
}

TEST_CASE("what products reach of the rate follows from their shape") {
  machine m{.name = "m", .flops_per_second = {1e9, 2e9, 0, 0}};
  m.shares.add({10, 0.25});
  m.shares.add({40, 0.5});
  m.shares.add({100, 1});
  // 2 n³ flops on 3 n² elements of 8 bytes: 2 n / 3 for each.
  auto const share = [&](double intensity, std::int64_t element_bytes, double peak) {
    double const elements = 1e6, flops = intensity * elements, bytes = elements * static_cast<double>(element_bytes);
    return flops / planner::local_seconds(m, flops, element_bytes, bytes) / peak;
  };
  for (std::int64_t element_bytes : {4, 8}) {
    double const peak = element_bytes == 8 ? 1e9 : 2e9;
    CHECK(same(share(10, element_bytes, peak), 0.25));
    CHECK(same(share(9, element_bytes, peak), 1));  // no product of matrices
    CHECK(same(share(40, element_bytes, peak), 0.5));
    CHECK(same(share(100, element_bytes, peak), 1));
    CHECK(same(share(1000, element_bytes, peak), 1));
    CHECK(same(share(16, element_bytes, peak), 1.0 / 3));  // 1 / 16 is halfway from 1 / 10 to 1 / 40, and 3 from 4 to 2
  }
  CHECK(same(planner::local_seconds(m, 1e9, 8, 0), 1));  // of unknown shape
  m.shares = planner::rates_by_size{};
  CHECK(same(share(1, 8, 1e9), 1));
  // If each element costs as much as two flops, whatever the shape, two measured points predict all between.
  for (double n : {12.0, 24.0}) m.shares.add({n, 1 / (1 + 2 / n)});
  CHECK(same(share(17, 8, 1e9), 1 / (1 + 2 / 17.0)));
}

TEST_CASE("machines") {
  machine const m = machines::h100.with("X", machines::h100_network);
  CHECK(m.along("X") == machines::h100_network);
  CHECK(m.along("Y") == machines::h100.links);
  CHECK(m.with("X", machines::h100.links).named == 1);
  machine many_axes = m;
  for (int i = 0; i < 20; ++i)
    many_axes = many_axes.with(std::string("axis") + std::to_string(i), machines::h100_network);
  CHECK(many_axes.named == machine::max_named);
  CHECK(many_axes.along("axis19") == machines::h100_network);
  constexpr char const* long_name = "data_parallel_groups_between_pods_of_one_site";
  CHECK(machines::h100.with(long_name, machines::h100_network).along(long_name) == machines::h100_network);
  CHECK(machines::h100.with(long_name, m.links).with(long_name, machines::h100_network).named == 1);

  // 2·n³ operations on 3·n² doubles: the memory counts for small n, the product for large.
  CHECK(same(planner::local_seconds(m, 2e3, 8, 3 * 8e2), 2.4e3 / 3.35e12));
  CHECK(same(planner::local_seconds(m, 2e12, 8, 3 * 8e8), 2e12 / 6.7e13));
  machine cached = m;
  cached.cache_bytes = 1000;
  cached.cache_bytes_per_second = 1e13;
  CHECK(same(planner::memory_seconds(cached, 1000), 1e-10));
  CHECK(same(planner::memory_seconds(cached, 1001), 1001 / 3.35e12));
  // Waiting is added: half of the shorter one.
  machine waits = m;
  waits.memory_waits = 0.5;
  CHECK(same(planner::local_seconds(waits, 2e3, 8, 3 * 8e2), 2.4e3 / 3.35e12 + 0.5 * 2e3 / 6.7e13));
  CHECK(same(planner::local_seconds(waits, 2e12, 8, 3 * 8e8), 2e12 / 6.7e13 + 0.5 * 2.4e9 / 3.35e12));
  CHECK(same(planner::local_seconds(waits, 0, 8, 2.4e3), 2.4e3 / 3.35e12));
  CHECK(std::isinf(planner::local_seconds(machines::tpu_v5p, 1, 8, 0)));
  CHECK(planner::local_seconds(machines::tpu_v5p, 0, 8, 0) == 0);
  for (machine const& each : machines::all) {
    CAPTURE(each.name.text);
    CHECK(each.flops_per_second.float16 >= each.flops_per_second.float32);
    CHECK(each.flops_per_second.float32 >= each.flops_per_second.float64);
    CHECK(each.memory_bytes_per_second > each.links.bytes_per_second);
  }
  // A reduce-scatter of 100 bytes over 4 devices reads 150 and writes 75.
  CHECK(same(planner::reduction_seconds(m, collective::reduce_scatter, 4, 100), 225 / 3.35e12));
  CHECK(planner::reduction_seconds(m, collective::all_gather, 4, 100) == 0);
}
