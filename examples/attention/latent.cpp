// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Multi-head latent attention (DeepSeek-V2, 2024, section 2.1) under tensor parallelism: the model's width is divided
/// over Y between layers, and heads inside. Each product sums over the axis that Y divides and scatters the axis that
/// comes next: five reduce-scatters, and one all-reduce of the rotary keys, which all heads share. There is no
/// all-to-all: the sharding is in the type, so a device's block of the joint axis consists of whole heads.
///
///     c[B, S, C_Y] = x · W_down         e[B, S, E_Y] = x · W_down'          k_rotary[B, S, F, P] = rope(x · W_rotary)
///     [k; v][B, S, H_Y, KV] = c · W_up  [q; q_rotary][B, S, H_Y, QW] = e · W_up'
///     y[B, S, M_Y] = softmax((q · k + rope(q_rotary) · k_rotary)/√(d + d_R)) · v · W_out

#include "names.hpp"

namespace {

OSTRAKA_AXIS(C);   // the latent of keys and values
OSTRAKA_AXIS(E);   // the latent of queries
OSTRAKA_AXIS(H);   // heads
OSTRAKA_AXIS(KV);  // a head's key and value
OSTRAKA_AXIS(QW);  // a head's query and its rotary part

template <auto... Dims>
using tensor = os::tensor<float, Dims...>;

using activations = tensor<B/X, S, M/Y>;
using latents = tensor<B/X, S, C/Y>;
using query_latents = tensor<B/X, S, E/Y>;
using heads = tensor<B/X, S, H/Y, D>;

struct weights {
  tensor<M/Y, C> down;
  tensor<M/Y, E> query_down;
  tensor<M/Y, F, P> rotary;
  tensor<C/Y, H, KV> up;
  tensor<E/Y, H, QW> query_up;
  tensor<H/Y, D, M> out;
};

// Pins what each product moves: sums run over the axes that Y divides, and operands stay.
template <class Out, class A, class W>
inline constexpr auto summed = os::plan_of<Out, A, W, decltype(os::reduce_result)>;
constexpr auto down = summed<os::dims<B/X, S, C/Y>, activations, decltype(weights::down)>;
constexpr auto query_down = summed<os::dims<B/X, S, E/Y>, activations, decltype(weights::query_down)>;
constexpr auto rotary = summed<os::dims<B/X, S, F, P>, activations, decltype(weights::rotary)>;
constexpr auto up = summed<os::dims<B/X, S, H/Y, KV>, latents, decltype(weights::up)>;
constexpr auto query_up = summed<os::dims<B/X, S, H/Y, QW>, query_latents, decltype(weights::query_up)>;
constexpr auto out = summed<os::dims<B/X, S, M/Y>, heads, decltype(weights::out)>;

constexpr int count(os::step kind) {
  return down.count(kind) + query_down.count(kind) + rotary.count(kind) + up.count(kind) + query_up.count(kind) +
         out.count(kind);
}
static_assert(count(os::step::reduce_scatter) == 5 && count(os::step::all_reduce) == 1);
static_assert(down.communications() + query_down.communications() + rotary.communications() + up.communications() +
                  query_up.communications() + out.communications() ==
              6);

/// One product makes keys, values and the rotary part of queries. The positions of keys are an axis of their own.
activations attend(activations const& x, weights const& w) {
  constexpr std::int64_t d = D_axis::extent;
  auto const c = os::einsum<B/X, S, C/Y>(x, w.down, os::reduce_result);
  auto const e = os::einsum<B/X, S, E/Y>(x, w.query_down, os::reduce_result);
  auto const k_rotary = os::rope<S, F, P>(os::einsum<B/X, S, F, P>(x, w.rotary, os::reduce_result));
  auto const both = os::rename<S, K>(os::einsum<B/X, S, H/Y, KV>(c, w.up, os::reduce_result));
  auto const query = os::einsum<B/X, S, H/Y, QW>(e, w.query_up, os::reduce_result);

  auto const k = os::rename<KV, D>(os::window<KV>(both, 0, d));
  auto const v = os::rename<KV, D>(os::window<KV>(both, d, 2 * d));
  auto const q = os::rename<QW, D>(os::window<QW>(query, 0, d));
  auto const q_rotary = os::rope<S, F, P>(os::split<QW, F, P>(os::window<QW>(query, d, query.extent(QW))));
  heads const o = os::latent_attention<S, K, D>(q, k, v, q_rotary, os::rename<S, K>(k_rotary), os::causal);
  return os::einsum<B/X, S, M/Y>(o, w.out, os::reduce_result);
}

activations run(mesh_type const& mesh) {
  auto const sizes = os::sizes(M = 48, C = 24, E = 40, H = 8, KV = 2 * D_axis::extent,
                               QW = D_axis::extent + F_axis::extent * P_axis::extent);
  weights const w{random_tensor<decltype(w.down)>(mesh, 1, 48, sizes),
                  random_tensor<decltype(w.query_down)>(mesh, 2, 48, sizes),
                  random_tensor<decltype(w.rotary)>(mesh, 3, 48, sizes),
                  random_tensor<decltype(w.up)>(mesh, 4, 24, sizes),
                  random_tensor<decltype(w.query_up)>(mesh, 5, 40, sizes),
                  random_tensor<decltype(w.out)>(mesh, 6, 128, sizes)};
  return attend(random_tensor<activations>(mesh, 7, 3, B = 4, S = 24, sizes), w);
}

}  // namespace

void latent(mesh_type const& mesh, mesh_type const& one, verdict& v) {
  auto const y = run(mesh);
  if (mesh.device() == 0) {
    auto const sizes = os::sizes(B = 4, S = 24, M = 48, C = 24, E = 40, H = 8, KV = 32, QW = 32);
    report r;
    r.add("latent", down, sizes, mesh);
    r.add("latent of queries", query_down, sizes, mesh);
    r.add("rotary keys", rotary, sizes, mesh);
    r.add("keys and values", up, sizes, mesh);
    r.add("queries", query_up, sizes, mesh);
    r.add("out", out, sizes, mesh);
    r.print("latent attention, heads split: five reduce-scatters, one all-reduce, no all-to-all");
  }
  v.expect_same("latent attention", y, run(one));
}
