// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The communication of a layer, as constant expressions: the plan of each product beside the published moves, and
/// forward and backward of the whole layer in each of the three ways. Nothing is allocated.

#include <array>
#include <cstdint>

#include <ostraka/foresight/gradient_plan.hpp>

#include "layer.hpp"

namespace esm2 {

/// The extents of the model with 15 billion parameters on X=2 · Y=4, with `batch` sequences.
constexpr auto of_15_billion(std::int64_t batch) {
  return os::sizes(B = batch, S = 512, K = 512, V = 33, M = 5120, N = 5120, H = 40, D = 128, I = 64, F = 20480, X = 2,
                   Y = 4);
}
constexpr int layers_of_15_billion = 48;

/// The bytes of the encoder's parameters on a device of X=2 · Y=4, the one with most.
inline std::int64_t parameter_bytes_of_15_billion() {
  encoder<os::names> shape;
  shape.layers.resize(layers_of_15_billion);
  return os::bytes_a_device(shape, of_15_billion(8));
}

namespace plans {

template <class Out, class... Operands>
constexpr auto plan = os::plan_of<Out, Operands...>;

using weights = layer<os::values>;
template <class W>
using of_width_t = decltype(of_width(std::declval<W const&>()));

constexpr auto statistics = plan<os::dims<B/X, S>, activations>;  // a layer norm has two such numbers a position
constexpr auto gather = plan<os::dims<B/X, S, M>, activations>;
constexpr auto project = plan<os::dims<B/X, S, H/Y, D>, gathered, of_width_t<decltype(weights::q)>>;
constexpr auto out = plan<os::dims<B/X, S, M/Y>, heads, of_width_t<decltype(weights::out)>>;
constexpr auto up = plan<os::dims<B/X, S, F/Y>, activations, of_width_t<decltype(weights::up)>>;
constexpr auto down = plan<os::dims<B/X, S, M/Y>, widened, of_width_t<decltype(weights::down)>>;

// As published: one move after another.
constexpr auto gather_projection = plan<os::dims<H/Y, D, M>, of_width_t<decltype(weights::q)>>;
constexpr auto gather_out = plan<os::dims<H/Y, D, M>, of_width_t<decltype(weights::out)>>;
constexpr auto scatter_heads =
    plan<os::dims<B/X, S, M/Y>, heads, os::sharding_of<H/Y, D, M>, decltype(os::reduce_result)>;
constexpr auto gather_up = plan<os::dims<M, F/Y>, of_width_t<decltype(weights::up)>>;
constexpr auto gather_down = plan<os::dims<F/Y, M>, of_width_t<decltype(weights::down)>>;
constexpr auto scatter_down =
    plan<os::dims<B/X, S, M/Y>, widened, os::sharding_of<F/Y, M>, decltype(os::reduce_result)>;

// Queries, keys and values share one gather: their own products gather only weights.
static_assert(gather.communications() == 1 && gather.count(os::step::all_gather) == 1);
static_assert(project.communications() == 1 && project.count(os::step::all_gather) == 1);

}  // namespace plans

/// Bytes that a device moves in the forward.
struct row {
  char const* what;
  std::int64_t published, planned;
};

/// Each product and move of a layer, in order, planned for these extents.
template <class Sizes>
constexpr std::array<row, 10> rows_of_layer(Sizes const& at) {
  using namespace plans;
  auto const planned = [&](auto const& plan) { return plan.for_sizes(at).bytes(at); };
  std::int64_t const norm = 2 * statistics.bytes(at), h = gather.bytes(at), weight = gather_projection.bytes(at);
  return {{{"layer norm (two numbers a position)", norm, norm},
           {"h, gathered once for q, k and v", h, h},
           {"q", weight, planned(project)},
           {"k", weight, planned(project)},
           {"v", weight, planned(project)},
           {"attention", 0, 0},
           {"out", gather_out.bytes(at) + scatter_heads.bytes(at), planned(out)},
           {"layer norm", norm, norm},
           {"up", h + gather_up.bytes(at), planned(up)},
           {"down", gather_down.bytes(at) + scatter_down.bytes(at), planned(down)}}};
}

template <class Sizes>
constexpr row sum_of_layer(Sizes const& at) {
  row sum{"a layer", 0, 0};
  for (row const& r : rows_of_layer(at)) {
    sum.published += r.published;
    sum.planned += r.planned;
  }
  return sum;
}

/// A layer and its input, which both have gradients.
template <class Leaves>
struct layer_and_input {
  layer<Leaves> weights;
  os::leaf<Leaves, float, B/X, S, M/Y> x;
};

/// Sums the layer's output to one number, so that the layer has a gradient. This adds one sum to the forward.
template <class Way>
struct sum_of_result {
  template <class T>
  constexpr auto operator()(T const& p) const {
    return os::sum<>(apply<Way>(p.weights, p.x));
  }
};

/// Forward and backward of a layer.
template <class Way>
inline constexpr auto gradient = os::gradient_plan<layer_and_input<os::values>>(sum_of_result<Way>{});

/// Bytes that a device moves in both; the backward keeps what the forward gathered.
struct passes {
  std::int64_t forward, backward;
};

template <class Way, class Sizes>
constexpr passes passes_of(Sizes const& at) {
  auto const& plan = gradient<Way>;
  static_assert(plan.unpriced() == 0);
  std::int64_t const sum = os::plan_of<os::dims<>, activations>.bytes(at);
  return {plan.forward.bytes(at) - sum, plan.backward.bytes(at)};
}

/// The bytes that gathering weights again in the backward would add: all of them, once.
template <class Sizes>
constexpr std::int64_t weights_again(Sizes const& at) {
  using namespace plans;
  return 3 * gather_projection.bytes(at) + gather_out.bytes(at) + gather_up.bytes(at) + gather_down.bytes(at);
}

// The rows are everything that the forward moves, at batch 8, as planned for the types alone.
static_assert(sum_of_layer(of_15_billion(8)).planned == passes_of<planned>(of_15_billion(8)).forward);
static_assert(sum_of_layer(of_15_billion(8)).published == passes_of<published>(of_15_billion(8)).forward);
static_assert(sum_of_layer(of_15_billion(32)).published == passes_of<published>(of_15_billion(32)).forward);

}  // namespace esm2
