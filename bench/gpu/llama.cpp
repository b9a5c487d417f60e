// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Layers of a model in Llama's shape on one device: attention and SwiGLU behind RMS norms, with residuals and rotary
/// positions. "forward" computes y; "step" computes the loss Σ y ⊙ t and its gradient with respect to x and all
/// parameters. llama.py runs PyTorch and JAX with the same numbers on the same card, and compares the losses.
///
///     bench/gpu/llama [layers=4] [batch=4] [tokens=2048] [heads=16] [width=128] [hidden=5632] [types=fb] [rounds=5]
///                     [only=TEXT] [json=FILE]
///
/// The model's width is heads · width. Types: f float, b bfloat16.

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "report.hpp"
#include "seconds_on_device.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(S);     // positions of queries
OSTRAKA_AXIS(T);     // positions of keys
OSTRAKA_AXIS(D);     // the model's width
OSTRAKA_AXIS(H);     // heads
OSTRAKA_AXIS(W);     // a head's width
OSTRAKA_AXIS(P, 2);  // its halves, which rope rotates
OSTRAKA_AXIS(E);     // frequencies
OSTRAKA_AXIS(F);     // the width within SwiGLU
OSTRAKA_MESH_AXIS(X);

namespace {

template <class L, class Real>
struct layer {
  os::leaf<L, Real, D> g1;
  os::leaf<L, Real, D, H, W> wq, wk, wv;
  os::leaf<L, Real, H, W, D> wo;
  os::leaf<L, Real, D> g2;
  os::leaf<L, Real, D, F> w1, w3;
  os::leaf<L, Real, F, D> w2;
};

template <class L, class Real>
struct model {
  os::leaf<L, Real, B, S, D> x;
  std::vector<layer<L, Real>> layers;
};

template <class A>
auto turned(A const& a) {
  return os::merge<P, E, W>(os::rope<S, E, P>(os::split<W, P, E>(a)));
}

template <class Layer, class A>
auto apply(Layer const& l, A const& x) {
  auto const n = os::rms_norm<D>(x, l.g1);
  auto const q = turned(os::einsum<B, S, H, W>(n, l.wq));
  auto const k = os::rename<S, T>(turned(os::einsum<B, S, H, W>(n, l.wk)));
  auto const v = os::rename<S, T>(os::einsum<B, S, H, W>(n, l.wv));
  auto const a = x + os::einsum<B, S, D>(os::attention<S, T, W>(q, k, v, os::causal), l.wo);
  auto const m = os::rms_norm<D>(a, l.g2);
  auto const s = os::silu(os::einsum<B, S, F>(m, l.w1)) * os::einsum<B, S, F>(m, l.w3);
  return a + os::einsum<B, S, D>(s, l.w2);
}

struct forward {
  template <class Model>
  auto operator()(Model const& p) const {
    auto x = apply(p.layers[0], p.x);
    for (std::size_t i = 1; i < p.layers.size(); ++i) x = apply(p.layers[i], x);
    return x;
  }
};

struct loss {
  template <class Model, class A>
  auto operator()(Model const& p, A const& t) const {
    return os::einsum<>(forward{}(p), t);
  }
};

/// Numbers around 0, from an element's place; llama.py computes the same.
template <class Real>
struct numbers {
  std::uint32_t salt;
  float size;
  template <class... Indices>
  KOKKOS_FUNCTION Real operator()(Indices... i) const {
    std::uint32_t h = salt;
    ((h = (h ^ static_cast<std::uint32_t>(i)) * 0x9E3779B1u, h ^= h >> 15), ...);
    return Real((static_cast<float>(h % 2001) / 1000 - 1) * size);
  }
};

template <class Real>
model<os::values, Real> filled_model(auto const& mesh, auto const& sizes, int layers, float size) {
  model<os::values, Real> p;
  auto const fill = [&](auto& leaf, std::uint32_t salt, float largest) {
    leaf = os::generate<std::remove_cvref_t<decltype(leaf)>>(mesh, sizes, numbers<Real>{salt, largest});
  };
  fill(p.x, 1, 1);
  p.layers.resize(static_cast<std::size_t>(layers));
  std::uint32_t salt = 16;
  for (auto& l : p.layers) {
    fill(l.g1, salt + 1, 1);
    fill(l.wq, salt + 2, size);
    fill(l.wk, salt + 3, size);
    fill(l.wv, salt + 4, size);
    fill(l.wo, salt + 5, size);
    fill(l.g2, salt + 6, 1);
    fill(l.w1, salt + 7, size);
    fill(l.w3, salt + 8, size);
    fill(l.w2, salt + 9, size);
    salt += 16;
  }
  return p;
}

template <class Real>
void time_all(bench::report& report, bench::arguments const& given, char const* element) {
  auto const mesh = os::make_mesh(X = 1);
  int const heads = given.number("heads", 16), width = given.number("width", 128);
  auto const sizes = os::sizes(B = given.number("batch", 4), S = given.number("tokens", 2048), D = heads * width,
                               H = heads, W = width, F = given.number("hidden", 5632));
  float const size = 1.0f / std::sqrt(static_cast<float>(heads * width));
  auto const p = filled_model<Real>(mesh, sizes, given.number("layers", 4), size);
  auto const t = os::generate<os::tensor<Real, B, S, D>>(mesh, sizes, numbers<Real>{2, 1});
  auto const step = os::value_and_grad(loss{});
  double const sum = static_cast<double>(static_cast<float>(os::value(loss{}(p, t))));
  auto const time = [&](std::string const& what, std::function<void()> const& run) {
    std::string const name = what + '.' + element;
    if (!given.wants(name)) return;
    auto c = bench::compare(name, {{"ours", run}}, given.number("rounds", 5), bench::seconds_on_device);
    c.numbers["loss"] = sum;
    report.add(std::move(c));
  };
  time("forward", [&] { static_cast<void>(forward{}(p)); });
  time("step", [&] { static_cast<void>(step(p, t)); });
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report report("llama", given);
  report.condition("device", Kokkos::DefaultExecutionSpace::name());
  std::string const types = given.text("types", "fb");
  if (types.find('f') != std::string::npos) time_all<float>(report, given, "float");
  if (types.find('b') != std::string::npos) time_all<os::bfloat16>(report, given, "bfloat16");
}
