// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A pipeline written out: 16 residual layers, whose stages are divided over the devices, and 8 microbatches, which go
/// from stage to stage by a permutation of what the table sends in a tick. The tutorial's schedule, with a tick per
/// layer, beside one with a tick per stage; then os::pipeline, which is this. Only the first stage has inputs, and
/// whatever is not there yet is NaN: none of it reaches a result, since idle slots are not computed.
// ranks: 1 2 4 8

#include <array>
#include <concepts>
#include <limits>
#include <vector>

#include <ostraka/plan/pipeline/describe.hpp>

#include "support.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(S);  // stages
OSTRAKA_AXIS(M);  // microbatches
OSTRAKA_AXIS(N);  // samples of a microbatch
OSTRAKA_AXIS(L);  // layers
OSTRAKA_AXIS(D);  OSTRAKA_AXIS(F);  // what a layer takes and gives
OSTRAKA_MESH_AXIS(stages);

constexpr int layers = 16, microbatches = 8, samples = 3, width = 5;
constexpr double unset = std::numeric_limits<double>::quiet_NaN();

/// Small whole numbers, so that sums are exact.
KOKKOS_FUNCTION constexpr double weight(std::int64_t l, std::int64_t d, std::int64_t f) {
  return static_cast<double>((3 * l + 5 * d + 7 * f + d * f) % 3 - 1);
}
KOKKOS_FUNCTION constexpr double input(std::int64_t m, std::int64_t n, std::int64_t d) {
  return static_cast<double>((4 * m + 3 * n + 5 * d) % 7 - 3);
}

struct weights {
  KOKKOS_FUNCTION double operator()(std::int64_t l, std::int64_t d, std::int64_t f) const { return weight(l, d, f); }
};
/// Of stage s: its own inputs, which only the first has.
struct inputs {
  KOKKOS_FUNCTION double operator()(std::int64_t s, std::int64_t m, std::int64_t n, std::int64_t d) const {
    return s == 0 ? input(m, n, d) : unset;
  }
};
/// All microbatches one after the other.
struct batch {
  KOKKOS_FUNCTION double operator()(std::int64_t n, std::int64_t d) const { return input(n / samples, n % samples, d); }
};

/// Grows slowly: what is large is folded back.
struct folded {
  KOKKOS_FUNCTION double operator()(double v) const {
    return v > 0 ? static_cast<double>(static_cast<std::int64_t>(v) % 8) : 0;
  }
};

/// h + folded(h · w)
auto layer(auto const& h, auto const& w) {
  return os::add(h, os::map(folded{}, os::rename<F, D>(os::einsum<N, F>(h, w))));
}

/// The same for one sample, in plain loops, through all layers.
std::array<double, width> by_loops(int m, int n) {
  std::array<double, width> h{};
  for (unsigned d = 0; d < width; ++d) h[d] = input(m, n, d);
  for (int l = 0; l < layers; ++l) {
    std::array<double, width> sums{};
    for (unsigned d = 0; d < width; ++d)
      for (unsigned f = 0; f < width; ++f) sums[f] += h[d] * weight(l, d, f);
    for (unsigned f = 0; f < width; ++f) h[f] += folded{}(sums[f]);
  }
  return h;
}

/// Index i of the first axis of a block of three.
template <auto... Dims>
auto at(auto const& block, std::integral auto i, auto const& mesh, auto const&... extents) {
  auto one = os::zeros<double, Dims..., os::varying(stages)>(mesh, extents...);
  Kokkos::deep_copy(one.local(), Kokkos::subview(block.local(), i, Kokkos::ALL, Kokkos::ALL));
  return one;
}

template <os::pipeline_rule Rule>
void write_out(char const* title, auto const& mesh, verdict& v) {
  int const n_stages = mesh.size(stages);
  auto const table = Rule(n_stages, microbatches, Rule.per_layer ? layers / n_stages : 1);
  auto const x = os::generate<double, S/stages, M, N, D>(mesh, S = n_stages, M = microbatches, N = samples, D = width, inputs{});
  auto const W = os::generate<double, L/stages, D, F>(mesh, L = layers, D = width, F = width, weights{});
  std::int64_t calls = 0;

  auto const body = [&](auto const& own_x, auto const& own_W) {
    int const stage = static_cast<int>(os::axis_index<stages>(own_x));
    auto const nothing = os::full<double, N, D, os::varying(stages)>(mesh, N = samples, D = width, unset);
    auto results = os::full<double, S, M, N, D, os::varying(stages)>(mesh, S = 1, M = microbatches, N = samples, D = width, unset);
    auto const last_lane = static_cast<unsigned>(table.lanes - 1);
    std::vector state(last_lane + 2, nothing);  // what each lane takes, and what the last one gives
    auto const own_inputs = os::sum<M, N, D>(own_x);
    for (int tick = 0; tick < table.ticks(); ++tick) {
      for (unsigned lane = last_lane + 1; lane-- > 0;) {
        auto const work = table.at(tick, stage, static_cast<int>(lane));
        if (work.idle()) continue;
        auto h = state[lane];
        if (stage == 0 && lane == 0) h = at<N, D>(own_inputs, work.microbatch, mesh, N = samples, D = width);
        unsigned const of_lane = static_cast<unsigned>(layers / n_stages / table.lanes);
        for (unsigned k = lane * of_lane; k < (lane + 1) * of_lane; ++k, ++calls)
          h = layer(h, at<D, F>(own_W, k, mesh, D = width, F = width));
        state[lane + 1] = h;
        if (stage + 1 == n_stages && lane == last_lane)
          Kokkos::deep_copy(Kokkos::subview(results.local(), 0, work.microbatch, Kokkos::ALL, Kokkos::ALL), h.local());
      }
      std::vector<os::hop> hops;  // all devices know them
      for (int s = 0; s < n_stages; ++s)
        if (auto const message = sent(table, tick, s); !message.none()) hops.push_back({message.from, message.to});
      auto const arrived = os::ppermute<stages>(state[last_lane + 1], hops);
      state[0] = received(table, tick, stage, os::planner::pipeline_phase::forward).none() ? nothing : arrived;
    }
    return results;
  };
  auto y = x;
  auto const sent = os::testing::traffic_of([&] { y = os::shard_map<S/stages, M, N, D>(body, x, W); });

  std::int64_t all_calls = 0;
  for (std::int64_t const n : os::testing::numbers_of_ranks(calls)) all_calls += n;
  std::int64_t const foretold = bytes_sent(table, samples * width * static_cast<std::int64_t>(sizeof(double)));
  v.expect_that("bytes sent are foretold", sent.bytes == foretold);
  v.expect_that("idle slots are not computed", all_calls == std::int64_t{layers} * microbatches);
  auto const all = os::gather_to_root(y);
  if (!all) return;
  bool same = true;
  for (int m = 0; m < microbatches; ++m)
    for (int n = 0; n < samples; ++n)
      for (unsigned d = 0; d < width; ++d) same = same && (*all)(n_stages - 1, m, n, d) == by_loops(m, n)[d];
  v.expect_that("results are those of plain loops", same);
  std::printf("%s: %d ticks, %.1f %% idle, %lld bytes sent: %s\n", title, table.ticks(), 100 * table.bubble(),
              static_cast<long long>(sent.bytes), same ? "PASS" : "FAIL");
  if (n_stages <= 4 && table.lanes <= 2) std::printf("%s", os::describe(table).c_str());
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(stages = env.devices());
  verdict v;
  write_out<os::tick_per_layer>("a tick per layer", mesh, v);
  write_out<os::gpipe>("a tick per stage", mesh, v);

  auto const x = os::generate<double, N/stages, D>(mesh, N = microbatches * samples, D = width, batch{});
  auto const W = os::generate<double, L/stages, D, F>(mesh, L = layers, D = width, F = width, weights{});
  auto const y = os::pipeline<os::gpipe, L/stages, N>(
      os::microbatches = microbatches, [](auto const& h, auto const& w) { return layer(h, w); }, x, W);
  if (auto const all = os::gather_to_root(y)) {
    bool same = true;
    for (int n = 0; n < microbatches * samples; ++n)
      for (unsigned d = 0; d < width; ++d) same = same && (*all)(n, d) == by_loops(n / samples, n % samples)[d];
    v.expect_that("os::pipeline gives what plain loops do", same);
    std::printf("os::pipeline: %s\n", same ? "PASS" : "FAIL");
  }
  return v.exit_code();
}
