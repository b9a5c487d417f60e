// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A pipeline written out: 16 residual layers, whose stages are divided over the devices, and 8 microbatches. In each
/// tick a permutation of the results that the table sends moves microbatches from stage to stage. The program shows the
/// tutorial's schedule, with a tick per layer, beside one with a tick per stage; then os::pipeline, which does the
/// same. Only the first stage has inputs. Values that have not arrived yet are NaN: none of them reaches a result,
/// since idle slots are not computed.
// ranks: 1 2 4 8
// labels: ci

#include <array>
#include <limits>
#include <vector>

#include "support.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(M);                    // microbatches
OSTRAKA_AXIS(N);                    // samples of each
OSTRAKA_AXIS(L);                    // layers
OSTRAKA_AXIS(D);  OSTRAKA_AXIS(F);  // inputs and outputs of a layer
OSTRAKA_MESH_AXIS(stages);

constexpr int layers = 16, microbatches = 8, samples = 3, width = 5;
constexpr double unset = std::numeric_limits<double>::quiet_NaN();

/// Small whole numbers, so that sums are exact. Microbatches after the last one, which other stages have, are not set.
struct inputs {
  KOKKOS_FUNCTION double operator()(std::int64_t m, std::int64_t n, std::int64_t d) const {
    return m < microbatches ? static_cast<double>((4 * m + 3 * n + 5 * d) % 7 - 3) : unset;
  }
};
struct weights {
  KOKKOS_FUNCTION double operator()(std::int64_t l, std::int64_t d, std::int64_t f) const {
    return static_cast<double>((3 * l + 5 * d + 7 * f + d * f) % 3 - 1);
  }
};
struct folded {
  KOKKOS_FUNCTION double operator()(double v) const {
    return v > 0 ? static_cast<double>(static_cast<std::int64_t>(v) % 8) : 0;
  }
};

/// h + folded(h · w), of a microbatch h[M, N, D] and a layer w[L, D, F]
auto layer(auto const& h, auto const& w) {
  return os::add(h, os::map(folded{}, os::rename<F, D>(os::einsum<M, N, F>(h, w, os::sum_over(L)))));
}

/// One sample through all layers, in plain loops.
std::array<double, width> by_loops(int m, int n) {
  std::array<double, width> h{};
  for (unsigned d = 0; d < width; ++d) h[d] = inputs{}(m, n, d);
  for (int l = 0; l < layers; ++l) {
    std::array<double, width> sums{};
    for (unsigned d = 0; d < width; ++d)
      for (unsigned f = 0; f < width; ++f) sums[f] += h[d] * weights{}(l, d, f);
    for (unsigned f = 0; f < width; ++f) h[f] += folded{}(sums[f]);
  }
  return h;
}

/// True if the microbatches from `first` on are those of plain loops. On device 0.
template <class T>
bool is_right(T const& results, int first) {
  auto const all = os::gather_to_root(results);
  bool same = true;
  for (int m = 0; all && m < microbatches; ++m)
    for (int n = 0; n < samples; ++n)
      for (unsigned d = 0; d < width; ++d) same = same && (*all)(first + m, n, d) == by_loops(m, n)[d];
  return same;
}

/// A pass through the pipeline, tick by tick.
template <os::pipeline_rule Rule>
void write_out(char const* title, auto const& mesh, verdict& v) {
  int const n_stages = mesh.size(stages), of_stage = layers / n_stages;
  auto const table = Rule(n_stages, microbatches, Rule.per_layer ? of_stage : 1);
  auto const extents = os::sizes(N = samples, D = width, F = width);
  auto const x = os::generate<double, M/stages, N, D>(mesh, M = microbatches * n_stages, extents, inputs{});
  auto const W = os::generate<double, L/stages, D, F>(mesh, L = layers, extents, weights{});
  std::int64_t calls = 0;

  auto const body = [&](auto const& own_x, auto const& own_W) {
    int const stage = static_cast<int>(os::axis_index<stages>(own_x).value());
    auto const nothing = os::full<double, M, N, D, os::varying(stages)>(mesh, M = 1, extents, unset);
    auto const results = os::full<double, M, N, D, os::varying(stages)>(mesh, M = microbatches, extents, unset);
    int const last_lane = table.lanes - 1, of_lane = of_stage / table.lanes;
    std::vector state(static_cast<unsigned>(table.lanes) + 1, nothing);  // inputs of the lanes, and the last output

    for (int tick = 0; tick < table.ticks(); ++tick) {
      for (int lane = last_lane; lane >= 0; --lane) {
        auto const work = table.at(tick, stage, lane);
        if (work.idle()) continue;
        auto h = state[static_cast<unsigned>(lane)];
        if (stage == 0 && lane == 0) h = os::part<M>(own_x, work.microbatch, microbatches);
        for (int k = lane * of_lane; k < (lane + 1) * of_lane; ++k, ++calls)
          h = layer(h, os::part<L>(own_W, k, of_stage));
        state[static_cast<unsigned>(lane) + 1] = h;
        if (stage + 1 == n_stages && lane == last_lane)
          os::reshard_into(os::part<M>(results, work.microbatch, microbatches), h);
      }
      std::vector<os::hop> hops;  // the sends of this tick, known on all devices
      for (int s = 0; s < n_stages; ++s)
        if (auto const message = sent(table, tick, s); !message.none()) hops.push_back({message.from, message.to});
      auto const arrived = os::ppermute<stages>(state.back(), hops);
      state[0] = received(table, tick, stage, os::planner::pipeline_phase::forward).none() ? nothing : arrived;
    }
    return results;
  };
  auto y = x;
  auto const traffic = os::testing::traffic_of([&] { y = os::shard_map<M/stages, N, D>(body, x, W); });

  std::int64_t all_calls = 0;
  for (std::int64_t const n : os::testing::numbers_of_ranks(calls)) all_calls += n;
  std::int64_t const predicted = bytes_sent(table, samples * width * static_cast<std::int64_t>(sizeof(double)));
  bool const right = is_right(y, microbatches * (n_stages - 1));
  v.expect_that("bytes sent are predicted", traffic.bytes == predicted);
  v.expect_that("idle slots are not computed", all_calls == layers * microbatches);
  v.expect_that("results are those of plain loops", right);
  if (mesh.device() != 0) return;
  std::printf("%s: %d ticks, %.1f %% idle, %lld bytes sent: %s\n", title, table.ticks(), 100 * table.bubble(),
              static_cast<long long>(traffic.bytes), right ? "PASS" : "FAIL");
  if (n_stages <= 4 && table.lanes == 1) std::printf("%s", os::describe(table).c_str());
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(stages = env.devices());
  verdict v;
  write_out<os::tick_per_layer>("a tick per layer", mesh, v);
  write_out<os::gpipe>("a tick per stage", mesh, v);

  auto const extents = os::sizes(N = samples, D = width, F = width);
  auto const x = os::generate<double, M/stages, N, D>(mesh, M = microbatches, extents, inputs{});
  auto const W = os::generate<double, L/stages, D, F>(mesh, L = layers, extents, weights{});
  auto const y = os::pipeline<os::gpipe, L/stages, M>(
      os::microbatches = microbatches, [](auto const& h, auto const& w) { return layer(h, w); }, x, W);
  bool const right = is_right(y, 0);
  v.expect_that("os::pipeline gives what plain loops do", right);
  if (mesh.device() == 0) std::printf("os::pipeline: %s\n", right ? "PASS" : "FAIL");
  return v.exit_code();
}
