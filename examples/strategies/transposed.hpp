// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Transposed tensor parallelism: weights are divided by the model's width and never move. Products that sum over the
/// width leave sums on all devices, which are scattered by heads, inner width and tokens; products whose result has the
/// width take a gathered operand:
///
///     gate, up[B_X, S, F_Y] = reduce_scatter<Y>(n[B_X, S, M_Y] · W[M_Y, F])
///     x[B_X, S, M_Y]       += all_gather<Y>(inner[B_X, S, F_Y]) · W_down[F, M_Y]
///
/// It moves activations of the inner width, 3 F a token and layer, where the division by columns and rows moves 4 M. So
/// it pays if the inner width is small.

#include "../transformer/attention.hpp"

namespace transformer {

struct transposed_tensor {
  static constexpr char const* name = "transposed";
  using storage = os::rules<N/Y>;
  using use = os::rules<B/X, M/Y, G/Y, F/Y, V/Y>;
  using whole = os::rules<B/X>;
};

template <>
struct training<transposed_tensor> {
  using rules = transposed_tensor::use;
  using between = rules;
  using weights = transposed_tensor::storage;

  template <auto Out, class A, class W>
  static constexpr auto product(A const& a, W const& w) {
    using axes = typename os::tensor<real, Out>::axes;
    if constexpr (os::position_in<M_axis, axes> < 0)
      return os::reshard<Out>(os::einsum<summed(axes{})>(a, w));
    else
      return os::einsum<Out>(os::defer_over<Y>(os::reshard<whole(typename A::axes{})>(a)), w);
  }

 private:
  template <class... Axes>
  static consteval auto summed(os::type_list<Axes...>) {
    return transposed_tensor::whole{}(Axes{}..., os::partial(Y));
  }
  template <class... Axes>
  static consteval auto whole(os::type_list<Axes...>) {
    return transposed_tensor::whole{}(Axes{}...);
  }
};

}  // namespace transformer
