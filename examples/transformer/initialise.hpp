// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The initial parameters: gains are 1, and products keep the size of their input; those that are added to the
/// residuals are scaled down so that all layers together have that size. A number depends on the seed, the parameter's
/// name and its place, and is the same on every mesh.

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "model.hpp"
#include "settings.hpp"

namespace transformer {

namespace detail {

/// 1 at one layer of a stack.
struct one_layer {
  std::int64_t layer, in_a_round;

  KOKKOS_FUNCTION real operator()(std::int64_t l) const { return l == layer ? 1 : 0; }
  KOKKOS_FUNCTION real operator()(std::int64_t q, std::int64_t l) const { return q * in_a_round + l == layer ? 1 : 0; }
};

// A parameter of one layer: without the leading axes of the stack.
template <int Leading, class TensorType>
struct of_one_layer {
  using type = TensorType;
};
template <int Leading, class T, class First, class... Rest, class Space>
  requires(Leading > 0)
struct of_one_layer<Leading, os::basic_tensor<T, os::sharding<First, Rest...>, Space>>
    : of_one_layer<Leading - 1, os::basic_tensor<T, os::sharding<Rest...>, Space>> {};

}  // namespace detail

/// The function that os::make_tree_like calls for each parameter. Layers have the same numbers stacked and one by one.
template <class Vr>
struct initial {
  settings const& o;

  template <class Leaf>
  auto operator()(Leaf const& leaf) const {
    using axes = typename Leaf::type::axes;
    if constexpr (os::position_in<L_axis, axes> >= 0)
      return stack(leaf);
    else
      return one(leaf);
  }

 private:
  template <class TensorType, class Mesh, class Sizes>
  using to_make = os::leaf_to_make<TensorType, Mesh, Sizes>;

  template <class TensorType, class Mesh, class Sizes>
  auto stack(to_make<TensorType, Mesh, Sizes> const& leaf) const {
    using mark = os::tensor<real, Vr::stack()>;
    using alone = typename detail::of_one_layer<Vr::stacked, TensorType>::type;
    std::string const behind = leaf.path().substr(std::string("layers").size());
    auto all = os::zeros<TensorType>(leaf.mesh(), leaf.sizes());
    for (std::int64_t i = 0; i < o.layers; ++i) {
      std::string const path = "layers[" + std::to_string(i) + "]" + behind;
      to_make<alone, Mesh, Sizes> const layer(leaf.mesh(), leaf.sizes(), os::seed(o.seed), path);
      detail::one_layer const is_it{i, o.layers / o.rounds};
      all = all + os::generate<mark>(leaf.mesh(), leaf.sizes(), is_it) * one(layer);
    }
    return all;
  }

  template <class Leaf>
  auto one(Leaf const& leaf) const {
    using tensor = typename Leaf::type;
    using axes = typename tensor::axes;
    auto const make_normal = [&](std::int64_t summed) {
      double const deviation = 1 / std::sqrt(static_cast<double>(summed));
      return os::normal<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::around(0, deviation));
    };
    if constexpr (tensor::rank == 1)  // a gain
      return os::ones<tensor>(leaf.mesh(), leaf.sizes());
    else if constexpr (os::position_in<V_axis, axes> == 0)  // the table
      return make_normal(o.width);
    else if constexpr (os::position_in<N_axis, axes> == 0)
      return os::lecun_normal<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::fan_in(N));
    else if constexpr (os::position_in<C_axis, axes> == 0)
      return os::lecun_normal<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::fan_in(C));
    else if constexpr (os::position_in<E_axis, axes> == 0 && os::position_in<M_axis, axes> == 1)
      return os::lecun_normal<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::fan_in(M));
    else  // added to the residuals, twice per layer
      return make_normal(2 * o.layers * (os::position_in<F_axis, axes> >= 0 ? o.inner : o.width));
  }
};

/// True for parameters that decay: all but the gains of norms, also where a stack of gains is a matrix.
inline bool decays(std::string_view path, int) { return path.find("norm") == path.npos; }

template <class Vr, class Mesh>
model<os::values, Vr> make_model(Mesh const& m, settings const& o) {
  model<os::names, Vr> shape;
  if constexpr (Vr::stacked == 0) shape.layers.resize(static_cast<std::size_t>(o.layers));
  return os::make_tree_like(shape, m, N = o.width, G = o.groups, R = o.repeats, D = o.width / o.heads, I = o.rotary / 2,
                            C = o.latents, F = o.inner, M = o.width, E = o.experts, Q = o.rounds,
                            L = o.layers / o.rounds, os::seed(o.seed), initial<Vr>{o});
}

}  // namespace transformer
