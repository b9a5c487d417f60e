// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tokens per second of the engine of examples/serving with a decoder of 4 layers, 512 wide: requests of one length
/// join in one step, the prefill, and decode together. decoding.py runs it beside PyTorch, in turns.
///
///     mpirun -n 2 bench/decoding [batch=16] [prompt=128] [tokens=64] [rounds=3] [cpu=1]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "../../examples/serving/engine.hpp"

namespace {

std::int64_t given(int argc, char** argv, char const* name, std::int64_t otherwise) {
  std::size_t const n = std::strlen(name);
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], name, n) == 0 && argv[i][n] == '=') return std::atoll(argv[i] + n + 1);
  return otherwise;
}

/// Seconds of f: of the clock, or of this process' CPU, which other jobs on the machine disturb less.
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

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  std::int64_t const batch = given(argc, argv, "batch", 16), prompt = given(argc, argv, "prompt", 128),
                     tokens = given(argc, argv, "tokens", 64), rounds = given(argc, argv, "rounds", 3);
  bool const of_cpu = given(argc, argv, "cpu", 0) != 0;
  auto const mesh = os::make_mesh(X = 1, Y = env.devices());
  serving::extents const e{4, 512, 8, 1, 64, 1408, 32000};
  serving::model const p = serving::random_model(mesh, e);
  std::int64_t const slots = 16, most = prompt + tokens + 1;
  serving::engine engine(mesh, p, e, 1 + batch * ((most + slots - 1) / slots), slots, most);
  std::vector<double> prefill, decode;
  for (std::int64_t round = 0; round <= rounds; ++round) {
    std::vector<serving::request> requests(static_cast<std::size_t>(batch));
    std::int32_t next = 1;
    for (serving::request& r : requests) {
      for (std::int64_t t = 0; t < prompt; ++t) r.prompt.push_back(next = (next * 7 + 11) % 31991);
      r.count = tokens + 1;
      engine.add(r);
    }
    double const first = seconds(of_cpu, [&] { engine.step(); });
    double const others = seconds(of_cpu, [&] {
      while (!engine.is_idle()) engine.step();
    });
    if (round > 0) prefill.push_back(first), decode.push_back(others);  // the first round warms up
  }
  std::sort(prefill.begin(), prefill.end());
  std::sort(decode.begin(), decode.end());
  if (mesh.device() == 0)
    std::printf("{\"prefill\": %.1f, \"decode\": %.1f}\n",
                static_cast<double>(batch * prompt) / prefill[prefill.size() / 2],
                static_cast<double>(batch * tokens) / decode[decode.size() / 2]);
  return 0;
}
