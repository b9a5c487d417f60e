// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Serves requests of different lengths that arrive at different times, in batches that they join and leave between
/// steps, with keys and values in pages. The pool has too few pages for all requests at once, so some wait. The program
/// checks that each request gets the tokens that it gets alone, token by token, with a cache of its own.
///
///     mpirun -n 4 build/examples/serving
// ranks: 1 2 4

#include <cmath>
#include <cstdio>

#include "engine.hpp"

namespace {

using serving::request;

/// The tokens of a request alone: a token a step, in a cache with an axis of positions.
std::vector<std::int32_t> alone(serving::mesh_type const& m, serving::model<os::values> const& p,
                                serving::extents const& e, request const& r) {
  std::int64_t const room = std::ssize(r.prompt) + r.count;
  using entries = os::tensor<float, B, K / X, G / Y, D>;
  std::vector<os::kv_cache<entries, entries>> caches;
  for (std::int64_t i = 0; i < e.layers; ++i) {
    auto const made = os::zeros<entries>(m, B = 1, K = room, G = e.key_heads, D = e.head);
    caches.push_back({made, os::zeros_like(made), 0});
  }
  std::vector<std::int32_t> all = r.prompt;
  for (std::int64_t t = 0; t + 1 < room; ++t) {
    auto const token = os::full<std::int32_t, B, Q>(m, B = 1, Q = 1, all[static_cast<std::size_t>(t)]);
    auto const attend = [&](std::size_t i, auto const& q, auto const& k, auto const& v) {
      os::append<K / X>(caches[i], os::rename<Q, K>(k), os::rename<Q, K>(v));
      return os::attention<Q, K / X, D>(q, caches[i].keys, caches[i].values, os::causal, os::from_position{t});
    };
    auto const next = os::argmax<N, Q>(serving::logits(p, token, os::full<std::int64_t, B>(m, B = 1, t),
                                                       os::zeros<std::int32_t, N>(m, N = 1), attend));
    if (t + 1 == std::ssize(all)) all.push_back(static_cast<std::int32_t>(os::value(os::sum<>(next))));
  }
  return {all.begin() + std::ssize(r.prompt), all.end()};
}

/// True if the engine refuses a request with such a prompt.
bool is_refused(serving::engine<os::values>& engine, std::size_t prompt, std::int64_t count) {
  request r{std::vector<std::int32_t>(prompt), count};
  try {
    engine.add(r);
  } catch (std::runtime_error const&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const y = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = env.devices() / y, Y = y);
  serving::extents const e;
  auto const p = serving::random_model(mesh, e);

  std::vector<request> requests;
  for (std::int32_t i = 0; i < 7; ++i) {
    request r;
    for (std::int32_t t = 0; t < 1 + 5 * i % 17; ++t) r.prompt.push_back((37 * i + 11 * t + 5) % 256);
    r.count = 3 + 4 * i % 9;
    requests.push_back(r);
  }
  serving::engine engine(mesh, p, e, 14, 4, 32);
  bool const refuses = is_refused(engine, 0, 1) && is_refused(engine, 1, 0) && is_refused(engine, 30, 3);
  std::int64_t steps = 0, most = 0, tokens = 0;
  for (std::size_t arrived = 0; arrived < requests.size() || !engine.is_idle(); ++steps) {
    for (std::int64_t n = 0; n < 2 && arrived < requests.size(); ++n) engine.add(requests[arrived++]);
    engine.step();
    most = std::max(most, static_cast<std::int64_t>(engine.running()));
  }
  bool good = refuses && engine.free_pages() == 13 && most > 1;
  for (request const& r : requests) {
    tokens += r.count;
    good = good && std::ssize(r.generated) == r.count && r.generated == alone(mesh, p, e, r);
  }
  if (mesh.device() == 0)
    std::printf("%lld tokens of %zu requests in %lld steps, at most %lld requests in one: %s\n",
                static_cast<long long>(tokens), requests.size(), static_cast<long long>(steps),
                static_cast<long long>(most), good ? "PASS, as each request alone" : "FAIL");
  return good ? 0 : 1;
}
