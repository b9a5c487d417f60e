// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tokens per second of the engine of examples/serving with a decoder of 4 layers, 512 wide: requests of one length
/// join in one step, the prefill, and decode together. Parameters, activations, keys and values are all floats, or all
/// 16-bit numbers. decoding.py runs it in turns with PyTorch.
///
///     mpirun -n 2 bench/decoding [weights=bf16] [batch=16] [prompt=128] [tokens=64] [rounds=3] [cpu=1]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "../../examples/serving/engine.hpp"

namespace {

/// The value of an argument such as batch=16, or nullptr.
char const* given(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view const a = argv[i]; a.starts_with(name) && a.substr(name.size()).starts_with("="))
      return argv[i] + name.size() + 1;
  return nullptr;
}

std::int64_t given(int argc, char** argv, std::string_view name, std::int64_t otherwise) {
  char const* const value = given(argc, argv, name);
  return value == nullptr ? otherwise : std::atoll(value);
}

/// The seconds that f takes: by the clock, or in CPU time of this process, which other jobs on the machine disturb
/// less.
template <class F>
double seconds(bool of_cpu, F const& f) {
  auto const now = [of_cpu] {
    return of_cpu ? static_cast<double>(std::clock()) / CLOCKS_PER_SEC
                  : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double const begin = now();
  f();
  return now() - begin;
}

struct workload {
  std::int64_t batch, prompt, tokens, rounds;
  bool of_cpu;
};

template <class L>
void measure(serving::mesh_type const& mesh, serving::model<L> const& p, serving::extents const& e, workload const& w) {
  std::int64_t const slots = 16, most = w.prompt + w.tokens + 1;
  serving::engine engine(mesh, p, e, 1 + w.batch * ((most + slots - 1) / slots), slots, most);
  std::vector<double> prefill, decode;
  for (std::int64_t round = 0; round <= w.rounds; ++round) {
    std::vector<serving::request> requests(static_cast<std::size_t>(w.batch));
    std::int32_t next = 1;
    for (serving::request& r : requests) {
      for (std::int64_t t = 0; t < w.prompt; ++t) r.prompt.push_back(next = (next * 7 + 11) % 31991);
      r.count = w.tokens + 1;
      engine.add(r);
    }
    double const first = seconds(w.of_cpu, [&] { engine.step(); });
    double const others = seconds(w.of_cpu, [&] {
      while (!engine.is_idle()) engine.step();
    });
    if (round > 0) prefill.push_back(first), decode.push_back(others);  // the first round warms up
  }
  std::sort(prefill.begin(), prefill.end());
  std::sort(decode.begin(), decode.end());
  if (mesh.device() == 0)
    std::printf("{\"prefill\": %.1f, \"decode\": %.1f}\n",
                static_cast<double>(w.batch * w.prompt) / prefill[prefill.size() / 2],
                static_cast<double>(w.batch * w.tokens) / decode[decode.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  workload const w{given(argc, argv, "batch", 16), given(argc, argv, "prompt", 128), given(argc, argv, "tokens", 64),
                   given(argc, argv, "rounds", 3), given(argc, argv, "cpu", 0) != 0};
  char const* const weights = given(argc, argv, "weights");
  auto const mesh = os::make_mesh(X = 1, Y = env.devices());
  serving::extents const e{4, 512, 8, 1, 64, 1408, 32000};
  auto const p = serving::random_model(mesh, e);
  if (weights == nullptr || std::strcmp(weights, "f32") == 0) return measure(mesh, p, e, w), 0;
  if (std::strcmp(weights, "bf16") == 0) return measure(mesh, os::tree_cast<os::bfloat16>(p), e, w), 0;
  std::fprintf(stderr, "decoding: weights are f32 or bf16, not %s\n", weights);
  return 1;
}
