// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A training step of a decoder on one device: loss and gradients of all parameters. Each layer is RMSNorm, causal
/// attention of 8 heads of 64 with rotations, RMSNorm, SwiGLU and residuals; then RMSNorm, logits and a cross entropy.
/// decoder.py adds PyTorch, in turns.
///
///     bench/decoder [layers=4] [tokens=512] [batch=1] [rounds=9] [json=FILE] [checks=1]
///
/// checks=1 prints the loss and the norm of each gradient instead of the seconds.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

#include "report.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(B, os::about(1));
OSTRAKA_AXIS(S, os::about(512));  // positions of queries
OSTRAKA_AXIS(T, os::about(512));  // positions of keys
OSTRAKA_AXIS(D, 512);
OSTRAKA_AXIS(H, 8);
OSTRAKA_AXIS(P, 2);  // halves of a head's width, which rope rotates
OSTRAKA_AXIS(E, 32);
OSTRAKA_AXIS(W, 64);
OSTRAKA_AXIS(F, 1408);
OSTRAKA_AXIS(V, 2048);
OSTRAKA_MESH_AXIS(X);

namespace {

template <class L>
struct layer {
  os::leaf<L, float, D> g1;
  os::leaf<L, float, D, H, W> wq, wk, wv;
  os::leaf<L, float, H, W, D> wo;
  os::leaf<L, float, D> g2;
  os::leaf<L, float, D, F> w1, w3;
  os::leaf<L, float, F, D> w2;
};

template <class L>
struct decoder {
  os::leaf<L, float, V, D> table;
  std::vector<layer<L>> layers;
  os::leaf<L, float, D> g;
  os::leaf<L, float, D, V> head;
};

template <class A>
auto turned(A const& a) {
  return os::merge<P, E, W>(os::rope<S, E, P>(os::split<W, P, E>(a)));
}

struct loss_of {
  template <class Parameters, class Tokens>
  auto operator()(Parameters const& p, Tokens const& tokens, Tokens const& labels) const {
    auto x = os::take<V, B, S, D>(p.table, tokens);
    for (auto const& l : p.layers) {
      auto const n = os::rms_norm<D>(x, l.g1);
      auto const q = turned(os::einsum<B, S, H, W>(n, l.wq));
      auto const k = os::rename<S, T>(turned(os::einsum<B, S, H, W>(n, l.wk)));
      auto const v = os::rename<S, T>(os::einsum<B, S, H, W>(n, l.wv));
      auto const o = os::attention<S, T, W>(q, k, v, os::causal);
      auto const a = x + os::einsum<B, S, D>(o, l.wo);
      auto const m = os::rms_norm<D>(a, l.g2);
      auto const s = os::silu(os::einsum<B, S, F>(m, l.w1)) * os::einsum<B, S, F>(m, l.w3);
      x = a + os::einsum<B, S, D>(s, l.w2);
    }
    auto const logits = os::einsum<B, S, V>(os::rms_norm<D>(x, p.g), p.head);
    return os::mean<>(os::cross_entropy<V>(logits, labels));
  }
};

/// Numbers around `middle` that both contestants compute, from an element's place in the tensor.
struct numbers {
  std::uint32_t salt;
  float size, middle;
  template <class... Indices>
  KOKKOS_FUNCTION float operator()(Indices... i) const {
    std::uint32_t h = salt;
    ((h = (h ^ static_cast<std::uint32_t>(i)) * 0x9E3779B1u, h ^= h >> 15), ...);
    return middle + (static_cast<float>(h % 2001) / 1000 - 1) * size;
  }
};

struct token_at {
  std::uint32_t salt;
  KOKKOS_FUNCTION std::int32_t operator()(std::int64_t b, std::int64_t s) const {
    std::uint32_t h = (salt ^ static_cast<std::uint32_t>(b)) * 0x9E3779B1u;
    h ^= h >> 15;
    h = (h ^ static_cast<std::uint32_t>(s)) * 0x9E3779B1u;
    return static_cast<std::int32_t>((h ^ (h >> 15)) % 2048);
  }
};

decoder<os::values> filled_decoder(auto const& mesh, int layers) {
  decoder<os::values> p;
  p.layers.resize(static_cast<std::size_t>(layers));
  std::uint32_t salt = 0;
  auto const fill = [&]<class Tensor>(Tensor& leaf) {
    constexpr bool is_gain = Tensor::rank == 1;
    leaf = os::generate<Tensor>(mesh, numbers{++salt, is_gain ? 0.1f : 0.04f, is_gain ? 1.0f : 0.0f});
  };
  os::for_each_leaf([&](auto const&, auto& leaf) { fill(leaf); }, p);
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  auto const mesh = os::make_mesh(X = 1);
  std::int64_t const tokens = given.number("tokens", 512), batch = given.number("batch", 1);
  auto const p = filled_decoder(mesh, given.number("layers", 4));
  auto const x = os::generate<os::tensor<std::int32_t, B, S>>(mesh, B = batch, S = tokens, token_at{101});
  auto const y = os::generate<os::tensor<std::int32_t, B, S>>(mesh, B = batch, S = tokens, token_at{102});
  auto const step = os::value_and_grad(loss_of{});

  if (given.number("checks", 0) != 0) {
    auto const [loss, gradient] = step(p, x, y);
    std::printf("%.9g\n", static_cast<double>(os::value(loss)));
    os::for_each_leaf(
        [](auto const&, auto const& leaf) { std::printf("%.9g\n", static_cast<double>(os::value(os::norm<>(leaf)))); },
        gradient);
    return 0;
  }
  bench::report report("decoder", given);
  report.add(bench::compare("step", {{"os::value_and_grad", [&] { (void)step(p, x, y); }}}, given.number("rounds", 9)));
}
