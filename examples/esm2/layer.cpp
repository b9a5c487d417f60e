// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The encoder layer: attention and the feed-forward sublayer, each behind a layer norm and with a residual. Queries,
/// keys and values share one gather of the normalised input; heads are divided, so that attention moves nothing.

#include "layer.hpp"

namespace {

/// Rotary positions, pairs a half of the head's width apart.
heads turned(heads const& a) { return os::merge<P, I, D>(os::rope<S, I, P>(os::split<D, P, I>(a))); }

}  // namespace

activations apply(layer const& l, activations const& x) {
  gathered const h = os::all_gather<Y>(os::layer_norm<M/Y>(x, l.gain, l.bias));
  heads const q = os::einsum<B/X, S, H/Y, D>(h, of_width(l.q)) + l.q_bias;
  heads const k = os::einsum<B/X, S, H/Y, D>(h, of_width(l.k)) + l.k_bias;
  heads const v = os::einsum<B/X, S, H/Y, D>(h, of_width(l.v)) + l.v_bias;
  heads const o = os::attention<S, K, D>(turned(q), os::rename<S, K>(turned(k)), os::rename<S, K>(v));
  activations const y = x + (os::einsum<B/X, S, M/Y>(o, of_width(l.out)) + l.out_bias);

  activations const n = os::layer_norm<M/Y>(y, l.inner_gain, l.inner_bias);
  widened const f = os::gelu(os::einsum<B/X, S, F/Y>(n, of_width(l.up)) + l.up_bias);
  return y + (os::einsum<B/X, S, M/Y>(f, of_width(l.down)) + l.down_bias);
}
