// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A typical user's program, for compile.py to compile: a small Llama that is loaded from a file under two rule sets,
/// run, and differentiated. Loss and gradients are the same numbers under both, which the program checks when it runs;
/// -DRULE_SETS=1 compiles one rule set alone.
///
///     mpirun -n 2 model [model.safetensors]

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/files.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

namespace os = ostraka;

#ifndef RULE_SETS
#  define RULE_SETS 2
#endif

OSTRAKA_AXIS(B, 4);    // sequences
OSTRAKA_AXIS(S, 16);   // positions of queries
OSTRAKA_AXIS(T, 16);   // positions of keys
OSTRAKA_AXIS(V, 64);   // tokens
OSTRAKA_AXIS(M, 32);   // the model's width
OSTRAKA_AXIS(QW, 32);  // all heads of queries together: G · R · D
OSTRAKA_AXIS(RW, 8);   // the heads of one group: R · D
OSTRAKA_AXIS(KW, 16);  // all heads of keys, or of values: G · D
OSTRAKA_AXIS(G, 4);    // heads of keys
OSTRAKA_AXIS(R, 2);    // heads of queries for each of them
OSTRAKA_AXIS(D, 4);    // a head's width
OSTRAKA_AXIS(P, 2);    // halves of a head's width, which a position rotates
OSTRAKA_AXIS(E, 2);    // frequencies
OSTRAKA_AXIS(F, 64);   // the inner width
OSTRAKA_MESH_AXIS(X, os::about(2));

// Weights are stored divided, and gathered where they are used.
struct fully_sharded {
  using storage = os::rules<M/X>;
  using use = os::rules<B/X>;
};

// Heads, the inner width and the vocabulary are divided, stored or used.
struct tensor_parallel {
  using storage = os::rules<QW/X, KW/X, G/X, F/X, V/X>;
  using use = storage;
};

template <class L, class Rules>
struct layer {
  static constexpr typename Rules::storage stored{};
  static constexpr auto width = stored(M);
  os::leaf<L, double, width> attention_norm;
  os::leaf<L, double, stored(QW, M)> wq;
  os::leaf<L, double, stored(KW, M)> wk, wv;
  os::leaf<L, double, stored(M, QW)> wo;
  os::leaf<L, double, width> inner_norm;
  os::leaf<L, double, stored(F, M)> gate, up;
  os::leaf<L, double, stored(M, F)> down;
};

template <class L, class Rules>
struct llama {
  static constexpr typename Rules::storage stored{};
  static constexpr auto width = stored(M);
  os::leaf<L, double, stored(V, M)> tokens;
  std::vector<layer<L, Rules>> layers;
  os::leaf<L, double, width> norm;
  os::leaf<L, double, stored(V, M)> head;
};

template <class Rules>
struct llama_under {
  template <class L>
  using tree = llama<L, Rules>;

  static constexpr typename Rules::use use{};

  /// x rotated by the positions. The two numbers of a pair are half of the width apart.
  static auto turned(auto const& x, auto const& positions) {
    return os::merge<P, E, D>(os::rope<S, E, P>(os::split<D, P, E>(x), positions));
  }

  static auto attention(auto const& l, auto const& x, auto const& positions) {
    auto const q = os::einsum<use(B, S, QW)>(x, os::reshard<use(QW, M)>(l.wq));
    auto const k = os::einsum<use(B, S, KW)>(x, os::reshard<use(KW, M)>(l.wk));
    auto const v = os::split<KW, G, D>(os::einsum<use(B, S, KW)>(x, os::reshard<use(KW, M)>(l.wv)));
    auto const queries = turned(os::split<RW, R, D>(os::split<QW, G, RW>(q)), positions);
    auto const keys = turned(os::split<KW, G, D>(k), positions);
    auto const o = os::attention<S, T, D>(queries, os::rename<S, T>(keys), os::rename<S, T>(v), os::causal);
    auto const heads = os::merge<G, RW, QW>(os::merge<R, D, RW>(o));
    return os::einsum<use(B, S, M)>(heads, os::reshard<use(M, QW)>(l.wo));
  }

  static auto swiglu(auto const& l, auto const& x) {
    auto const gate = os::silu(os::einsum<use(B, S, F)>(x, os::reshard<use(F, M)>(l.gate)));
    auto const up = os::einsum<use(B, S, F)>(x, os::reshard<use(F, M)>(l.up));
    return os::einsum<use(B, S, M)>(gate * up, os::reshard<use(M, F)>(l.down));
  }

  static auto logits(auto const& p, auto const& tokens, auto const& positions) {
    auto x = os::take<V, use(B, S, M)>(os::reshard<use(V, M)>(p.tokens), tokens);
    for (auto const& l : p.layers) {
      auto const a = x + attention(l, os::rms_norm<M>(x, os::reshard<M>(l.attention_norm)), positions);
      x = a + swiglu(l, os::rms_norm<M>(a, os::reshard<M>(l.inner_norm)));
    }
    return os::einsum<use(B, S, V)>(os::rms_norm<M>(x, os::reshard<M>(p.norm)), os::reshard<use(V, M)>(p.head));
  }

  auto operator()(auto const& p, auto const& tokens, auto const& positions, auto const& next) const {
    return os::mean<>(os::cross_entropy<use(V)>(logits(p, tokens, positions), next));
  }
};

/// The loss, and the Frobenius norms of its gradients in the order of the leaves.
template <class Rules>
std::vector<double> loss_and_gradients(auto const& mesh, std::string const& file) {
  constexpr auto use = llama_under<Rules>::use;
  auto const p = os::load<llama_under<Rules>::template tree>(file, mesh);
  auto const tokens = os::generate<std::int32_t, use(B, S)>(
      mesh, [](std::int64_t b, std::int64_t s) { return static_cast<std::int32_t>((7 * b + 5 * s + b * s) % 64); });
  auto const next = os::generate<std::int32_t, use(B, S)>(
      mesh, [](std::int64_t b, std::int64_t s) { return static_cast<std::int32_t>((3 * b + 11 * s) % 64); });
  auto const positions = os::iota<std::int32_t, S>(mesh);
  auto const [loss, gradient] = os::value_and_grad(llama_under<Rules>{})(p, tokens, positions, next);
  std::vector<double> all{os::value(loss)};
  os::for_each_leaf([&](auto const&, auto const& g) { all.push_back(os::value(os::norm<>(g))); }, gradient);
  return all;
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(X = env.devices());
  std::string const file = argc > 1 ? argv[1] : "model.safetensors";
  if (argc < 2) {
    llama<os::names, fully_sharded> shape;
    shape.layers.resize(2);
    os::save(file, os::make_tree_like(shape, mesh, os::seed(1)));
  }
  std::vector<double> const one = loss_and_gradients<fully_sharded>(mesh, file);
  if (mesh.device() == 0) std::printf("loss %.12f, with %zu gradients\n", one[0], one.size() - 1);
#if RULE_SETS > 1
  std::vector<double> const other = loss_and_gradients<tensor_parallel>(mesh, file);
  double difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference = std::max(difference, std::abs(one[i] - other[i]) / std::abs(one[i]));
  if (mesh.device() == 0) std::printf("of other rules at most %.1e of these numbers away\n", difference);
  return difference < 1e-9 ? 0 : 1;
#endif
}
