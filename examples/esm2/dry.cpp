// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A training step of the whole model with 15 billion parameters, 48 layers as published, on dry meshes of up to 65,536
/// devices: the bytes that a device sends over each mesh axis, its operations and memory, and the time that computing
/// these figures takes. For a small model, the costs on ranks equal those of the same devices of a dry mesh.

#include "dry.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "layer.hpp"

namespace {

using namespace esm2;

struct published_layer {
  template <class L, class A>
  auto operator()(L const& l, A const& x) const {
    return apply<published>(l, x);
  }
};

/// A loss, which a gradient requires; almost all of the price is the encoder's.
struct mean_square {
  template <class P, class A>
  auto operator()(P const& p, A const& tokens) const {
    auto const through = os::checkpoint(published_layer());  // recomputes a layer's results
    auto x = through(p.layers[0], os::take<V>(p.table, tokens));
    for (std::size_t i = 1; i < p.layers.size(); ++i) x = through(p.layers[i], x);
    return os::mean<>(os::square(os::layer_norm<M/Y>(x, p.gain, p.bias)));
  }
};

struct step_price {
  os::cost<X_mesh, Y_mesh> cost;
  std::int64_t parameters = 0;  ///< bytes a device
  double milliseconds = 0;
};

template <class Sizes>
step_price price(esm2::mesh_type const& mesh, Sizes const& sizes, int layers) {
  step_price r;
  encoder<os::names> shape;
  shape.layers.resize(static_cast<std::size_t>(layers));
  static_cast<void>(os::cost_of(mesh, [&] {
    auto const p = os::make_tree_like(shape, mesh, sizes, os::seed(1), [](auto const& leaf) {
      using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
      return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
    });
    os::for_each_leaf(
        [&](std::string const&, auto const& w) {
          r.parameters += static_cast<std::int64_t>(w.local().size() * sizeof(float));
        },
        p);
    auto const tokens = os::zeros<std::int32_t, B/X, S>(mesh, sizes);
    auto const step = os::value_and_grad(mean_square());
    for (int i = 0; i < 2; ++i) {  // the second step costs as much as all later ones
      auto const begin = std::chrono::steady_clock::now();
      r.cost = os::cost_of(mesh, [&] { static_cast<void>(step(p, tokens)); });
      r.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
  }));
  return r;
}

double giga(std::int64_t n) { return static_cast<double>(n) / 1e9; }

}  // namespace

void print_prices() {
  std::printf(
      "\nA training step of all 48 layers on meshes that are not here, 4 sequences of 512 for each X. "
      "A device:\n\n"
      "%14s %14s %12s %12s %12s %10s %12s\n",
      "X x Y", "parameters", "over X", "over Y", "Tflop", "peak", "priced in");
  for (int const x : {2, 64, 8192}) {
    int const y = x == 2 ? 4 : 8;
    auto const sizes = os::sizes(B = 4 * x, S = 512, K = 512, V = 33, M = 5120, N = 5120, H = 40, D = 128, F = 20480);
    step_price const r = price(os::dry_mesh(X = x, Y = y), sizes, 48);
    std::printf("%9d x %2d %11.2f GB %9.2f GB %9.2f GB %12.1f %7.2f GB %9.1f ms\n", x, y, giga(r.parameters),
                giga(r.cost.bytes_over(X)), giga(r.cost.bytes_over(Y)), static_cast<double>(r.cost.flops) / 1e12,
                giga(r.cost.peak_memory), r.milliseconds);
  }
}

bool costs_as_dry(esm2::mesh_type const& mesh) {
  auto const sizes = os::sizes(B = 8, S = 16, K = 16, V = 33, M = 64, N = 64, H = 8, D = 8, F = 256);
  auto const wet = price(mesh, sizes, 4).cost;
  auto const dry =
      price(os::dry_mesh(os::as_device(mesh.device()), X = mesh.size(X), Y = mesh.size(Y)), sizes, 4).cost;
  bool same = dry.bytes == wet.bytes && dry.messages == wet.messages && dry.flops == wet.flops &&
              dry.peak_memory == wet.peak_memory && dry.memory_kept == wet.memory_kept;
  for (std::size_t set = 0; set < wet.over.size(); ++set) same = same && dry.over[set].bytes == wet.over[set].bytes;
  return same;
}
