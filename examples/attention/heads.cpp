// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Causal self-attention with rotary positions, multi-head (R = 1) and grouped-query (R > 1), under three sets of
/// rules: heads split, positions split, both. The program is the same; the rules decide what is gathered and reduced.
///
///     q[B, S, G, R, D] = x[B, S, M] · W_q[M, QW]     QW is G · R · D, and a block of it whole heads
///     k, v[B, K, G, D] = x[B, S, M] · W[M, KW]       KW is G · D
///     y[B, S, M] = attention(q, k, v) · W_out[QW, M]

#include "names.hpp"

namespace {

OSTRAKA_AXIS(QW);
OSTRAKA_AXIS(KW);
OSTRAKA_AXIS(RD);

constexpr os::rules<G/Y, QW/Y, KW/Y> heads_split;
constexpr os::rules<S/X/Y> positions_split;
constexpr os::rules<S/X, G/Y, QW/Y, KW/Y> both_split;

template <auto Rules>
struct weights {
  os::tensor_under<Rules, float, M, QW> q;
  os::tensor_under<Rules, float, M, KW> k, v;
  os::tensor_under<Rules, float, QW, M> out;
};

/// The queries and keys of one head have the same frequencies, so that scores depend on the difference of positions.
template <class A>
auto turned(A const& heads) {
  return os::merge<F, P, D>(os::rope<S, F, P>(os::split<D, F, P>(heads)));
}

template <auto Rules>
using activations = os::tensor_under<Rules, float, B, S, M>;

template <auto Rules>
activations<Rules> attend(activations<Rules> const& x, weights<Rules> const& w, std::int64_t groups, report& r) {
  auto const q = os::split<RD, R, D>(os::split<QW, G, RD>(os::einsum<Rules(B, S, QW)>(x, w.q), G = groups));
  auto const k = os::named("k", os::rename<S, K>(turned(os::split<KW, G, D>(os::einsum<Rules(B, S, KW)>(x, w.k)))));
  auto const v = os::named("v", os::rename<S, K>(os::split<KW, G, D>(os::einsum<Rules(B, S, KW)>(x, w.v))));

  // Positions of keys have no rule: where positions of queries are divided, this gathers keys and values.
  auto const keys = os::reshard<Rules(B, K, G, D)>(k);
  auto const values = os::reshard<Rules(B, K, G, D)>(v);
  auto const heads = os::attention<S, K, D>(turned(q), keys, values, os::causal);
  auto const o = os::named("o", os::merge<G, RD, QW>(os::merge<R, D, RD>(heads)));

  r.add("keys", os::plan<Rules(B, K, G, D)>(k), k);
  r.add("values", os::plan<Rules(B, K, G, D)>(v), v);
  r.add("out", os::plan<Rules(B, S, M)>(o, w.out), o, w.out);
  return os::einsum<Rules(B, S, M)>(o, w.out);
}

struct extents {
  std::int64_t sequences = 2, positions = 24, width = 48, groups = 8, repeats = 1;
};

template <auto Rules>
activations<Rules> run(mesh_type const& mesh, extents const& e, report& r) {
  auto const sizes = os::sizes(M = e.width, QW = e.groups * e.repeats * D_axis::extent, KW = e.groups * D_axis::extent);
  auto const width = static_cast<double>(e.width);
  using w = weights<Rules>;
  w const weights{random_tensor<decltype(w::q)>(mesh, 1, width, sizes),
                  random_tensor<decltype(w::k)>(mesh, 2, width, sizes),
                  random_tensor<decltype(w::v)>(mesh, 3, width, sizes),
                  os::named("W_out", random_tensor<decltype(w::out)>(mesh, 4, width, sizes))};
  return attend<Rules>(random_tensor<activations<Rules>>(mesh, 5, 3, B = e.sequences, S = e.positions, sizes), weights,
                       e.groups, r);
}

template <auto Rules>
void row(char const* name, mesh_type const& mesh, mesh_type const& one, extents const& e, verdict& v) {
  report moved, nothing;
  auto const y = run<Rules>(mesh, e, moved);
  if (mesh.device() == 0) moved.print(name);
  v.expect_same(name, y, run<Rules>(one, e, nothing));
}

}  // namespace

void heads_and_positions(mesh_type const& mesh, mesh_type const& one, verdict& v) {
  extents const multi_head{.groups = 8, .repeats = 1}, grouped_query{.groups = 4, .repeats = 2};
  row<heads_split>("multi-head, heads split", mesh, one, multi_head, v);
  row<positions_split>("multi-head, positions split", mesh, one, multi_head, v);
  row<both_split>("multi-head, both", mesh, one, multi_head, v);
  row<heads_split>("grouped-query, heads split", mesh, one, grouped_query, v);
  row<positions_split>("grouped-query, positions split", mesh, one, grouped_query, v);
  row<both_split>("grouped-query, both", mesh, one, grouped_query, v);
}
