// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The numbers of examples/shard_map are those of JAX, and the network's loss in plain loops is the tutorial's.
///
/// Oracle: JAX 0.10.2 on the CPU, after jax.config.update('jax_threefry_partitionable', False); each constant says
/// which line made it. Further blocks of threefry2x32 are the known answers of Random123.
// labels: ci

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "../../examples/shard_map/network.hpp"

namespace {

using threefry::words;

TEST_CASE("blocks are Random123's known answers") {
  // threefry2x32 20 of its kat_vectors: counter, key, answer
  CHECK(threefry::block({0, 0}, {0, 0}) == words{0x6b200159u, 0x99ba4efeu});
  CHECK(threefry::block({0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}) == words{0x1cb996fcu, 0xbb002be7u});
  CHECK(threefry::block({0x13198a2eu, 0x03707344u}, {0x243f6a88u, 0x85a308d3u}) == words{0xc4923a9cu, 0x483df7a0u});
}

TEST_CASE("keys") {
  CHECK(threefry::key_of(42) == words{0, 42});           // jax.random.PRNGKey(42)
  CHECK(threefry::key_of(-1) == words{0, 4294967295u});  // jax.random.PRNGKey(-1)
  // jax.random.split(jax.random.PRNGKey(0))
  static_assert(threefry::split<2>(threefry::key_of(0)) ==
                std::array{words{4146024105u, 967050713u}, words{2718843009u, 1272950319u}});
  // jax.random.split(jax.random.PRNGKey(1701), 3)
  static_assert(threefry::split<3>(threefry::key_of(1701)) == std::array{words{927208350u, 3916705582u},
                                                                         words{1835323421u, 676898860u},
                                                                         words{3164047411u, 4010691890u}});
}

TEST_CASE("bits, uniform and normal numbers, of one and several, even and odd in number") {
  auto const key = threefry::key_of(42);
  // jax.random.bits(jax.random.PRNGKey(42), (n,))
  CHECK(threefry::bits(key, 0, 1) == 1832780943u);
  CHECK(threefry::bits(key, 0, 2) == 64467757u);
  CHECK(threefry::bits(key, 1, 2) == 2916123636u);
  std::uint32_t const five[] = {3134548294u, 3733159049u, 843694964u, 894150801u, 801545058u};
  std::uint32_t const eight[] = {2954079971u, 2575172198u, 1139032965u, 1035738655u,
                                 3276725750u, 1223413151u, 173471767u,  13772463u};
  for (int i = 0; i < 5; ++i) CHECK(threefry::bits(key, i, 5) == five[i]);
  for (int i = 0; i < 8; ++i) CHECK(threefry::bits(key, i, 8) == eight[i]);

  // [float(u).hex() for u in jax.random.uniform(jax.random.PRNGKey(42), (5,))]
  float const uniform[] = {0x1.75aadp-1f, 0x1.bd06f8p-1f, 0x1.924e1p-3f, 0x1.aa5d4p-3f, 0x1.7e34dp-3f};
  for (int i = 0; i < 5; ++i) CHECK(threefry::uniform(key, i, 5) == uniform[i]);

  // jax.random.normal(jax.random.PRNGKey(42), (8,)), to nine digits
  float const normal[] = {0.489624947f, 0.252257556f,  -0.627390325f, -0.702602625f,
                          0.715733647f, -0.568499327f, -1.74618304f,  -2.72586703f};
  for (int i = 0; i < 8; ++i) CHECK(std::abs(threefry::normal(key, i, 8) - normal[i]) < 1e-6f);
  // the largest in size of jax.random.normal(jax.random.PRNGKey(s), (100000,)) for s = 0, 1
  CHECK(std::abs(threefry::normal(threefry::key_of(0), 60862, 100000) - 4.20449257f) < 2e-6f);
  CHECK(std::abs(threefry::normal(threefry::key_of(1), 97312, 100000) - -5.41998291f) < 2e-6f);
}

TEST_CASE("the network's loss in plain loops") {
  // The tutorial's init(jax.random.PRNGKey(0), [784, 128, 128, 128, 128, 128, 8], 32): corners of W, ends of b
  float const corners[network::layers][4] = {{0.0259275492f, 0.0380571932f, -1.10157359f, -1.75859261f},
                                             {0.146183014f, -0.0111855427f, -0.0271680895f, 0.290937334f},
                                             {0.0517658442f, 0.0803871751f, 0.963445008f, 1.92081392f},
                                             {0.0847990662f, 0.0242776852f, -1.56738794f, -0.220020354f},
                                             {0.00830304716f, -0.12174549f, -1.56481719f, -0.348479688f},
                                             {-0.0332830697f, 0.0276426598f, 0.185228646f, 0.298300862f}};
  for (int l = 0; l < network::layers; ++l) {
    auto const w = network::weight(l), b = network::bias(l);
    float const found[] = {w(0, 0), w(w.rows - 1, w.columns - 1), b(0), b(b.columns - 1)};
    for (int c = 0; c < 4; ++c) CHECK(std::abs(found[c] - corners[l][c]) < 1e-6f);
  }
  CHECK(std::abs(network::inputs()(31, 783) - -1.51146281f) < 1e-6f);
  CHECK(std::abs(network::targets()(31, 7) - 1.35745931f) < 1e-6f);

  double loss = 0;
  std::vector<std::vector<double>> weights(network::layers);
  for (int l = 0; l < network::layers; ++l)
    for (int d = 0; d < network::inputs_of(l); ++d)
      for (int f = 0; f < network::outputs_of(l); ++f) weights[l].push_back(double{network::weight(l)(d, f)});
  for (int s = 0; s < network::batch; ++s) {
    std::vector<double> x;
    for (int d = 0; d < network::inputs_of(0); ++d) x.push_back(double{network::inputs()(s, d)});
    for (int l = 0; l < network::layers; ++l) {
      int const wide = network::outputs_of(l);
      std::vector<double> y(wide);
      for (int f = 0; f < wide; ++f) {
        y[f] = double{network::bias(l)(f)};
        for (int d = 0; d < network::inputs_of(l); ++d) y[f] += x[d] * weights[l][d * wide + f];
        if (l + 1 < network::layers && y[f] < 0) y[f] = 0;
      }
      x = y;
    }
    for (int f = 0; f < network::outputs_of(network::layers - 1); ++f) {
      double const error = x[f] - double{network::targets()(s, f)};
      loss += error * error / network::batch;
    }
  }
  CHECK(std::abs(loss - 22.7798859612) <
        1e-5);  // JAX's numbers as float64, summed by NumPy; JAX itself prints 22.77989
  CHECK(network::is_loss(loss));
}

}  // namespace
