// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Prefill and decoding with caches: filling the first positions at once and the others one at a time gives the same
/// result as all positions at once. The caches are divided over heads, or over their own length; in the second case a
/// step moves a few numbers of each query, however long the cache is. Latent attention caches one latent and one rotary
/// key per position for all heads, and attends to the latents themselves: it applies the up-projection of keys to the
/// queries, and that of values to the result.

#include "names.hpp"

namespace {

OSTRAKA_AXIS(C, 24);  // latents
OSTRAKA_AXIS(H);

constexpr std::int64_t positions = 24, prefilled = 17;

constexpr os::rules<B/X, G/Y, H/Y> heads_split;
constexpr os::rules<K/X/Y> length_split;

template <class A>
auto turned(A const& heads, os::from_position at = {0}) {
  return os::merge<F, P, D>(os::rope<S, F, P>(os::split<D, F, P>(heads), at));
}

/// Calls step(from, to) for the positions that are filled at once, and for each of the others.
template <class Step>
void in_steps(Step const& step) {
  step(0, prefilled);
  for (std::int64_t t = prefilled; t < positions; ++t) step(t, t + 1);
}

template <auto Rules>
auto decode(mesh_type const& mesh, std::int64_t room, std::int64_t& moved) {
  using queries = os::tensor_under<Rules, float, B, S, G, R, D>;
  using keys = os::tensor_under<Rules, float, B, S, G, D>;
  using cached = os::tensor_under<Rules, float, B, K, G, D>;
  auto const sizes = os::sizes(B = 4, G = 4, R = 2);
  auto const q = random_tensor<queries>(mesh, 1, 3, S = positions, sizes);
  auto const k = random_tensor<keys>(mesh, 2, 3, S = positions, sizes);
  auto const v = random_tensor<keys>(mesh, 3, 3, S = positions, sizes);

  os::kv_cache cache{os::zeros<cached>(mesh, sizes, K = room), os::zeros<cached>(mesh, sizes, K = room)};
  auto const result = os::zeros_like(q);
  in_steps([&](std::int64_t from, std::int64_t to) {
    os::from_position const at{from};
    auto const piece = [=](auto const& a) { return os::window<S>(a, from, to); };
    os::append<Rules(K)>(cache, os::rename<S, K>(turned(piece(k), at)), os::rename<S, K>(piece(v)));
    auto const query = turned(piece(q), at);
    os::write_at<S>(result, from, os::attention<S, Rules(K), D>(query, cache.keys, cache.values, os::causal, at));
    using operation = os::operation::attention<S_axis, std::remove_cvref_t<decltype(Rules(K))>, D_axis>;
    moved = os::bytes_of(operation(), query, cache.keys, cache.values);
  });
  return result;
}

/// The same for all positions at once, without a cache.
auto at_once(mesh_type const& one) {
  auto const sizes = os::sizes(B = 4, S = positions, G = 4, R = 2);
  auto const q = random_tensor<os::tensor<float, B, S, G, R, D>>(one, 1, 3, sizes);
  auto const k = random_tensor<os::tensor<float, B, S, G, D>>(one, 2, 3, sizes);
  auto const v = random_tensor<os::tensor<float, B, S, G, D>>(one, 3, 3, sizes);
  return os::attention<S, K, D>(turned(q), os::rename<S, K>(turned(k)), os::rename<S, K>(v), os::causal);
}

template <auto Rules>
struct latent_operands {
  os::tensor_under<Rules, float, B, S, H, D> q;
  os::tensor_under<Rules, float, B, S, H, F, P> q_rotary;
  os::tensor_under<Rules, float, B, S, C> latents;
  os::tensor_under<Rules, float, B, S, F, P> k_rotary;
  os::tensor_under<Rules, float, C, H, D> up_keys, up_values;

  explicit latent_operands(mesh_type const& mesh) {
    auto const sizes = os::sizes(B = 4, S = positions, H = 8);
    q = random_tensor<decltype(q)>(mesh, 1, 3, sizes);
    q_rotary = random_tensor<decltype(q_rotary)>(mesh, 2, 3, sizes);
    latents = random_tensor<decltype(latents)>(mesh, 3, 3, sizes);
    k_rotary = random_tensor<decltype(k_rotary)>(mesh, 4, 3, sizes);
    up_keys = random_tensor<decltype(up_keys)>(mesh, 5, 24, sizes);
    up_values = random_tensor<decltype(up_values)>(mesh, 6, 24, sizes);
  }
};

constexpr auto latent_rules = heads_split;

auto decode_latents(mesh_type const& mesh, std::int64_t& cached_bytes) {
  latent_operands<latent_rules> const o(mesh);
  os::kv_cache cache{os::zeros<float, B/X, K, C>(mesh, B = 4, K = positions),
                     os::zeros<float, B/X, K, F, P>(mesh, B = 4, K = positions)};
  cached_bytes = static_cast<std::int64_t>((C_axis::extent + D_axis::extent) * sizeof(float));
  double const scale = 1 / std::sqrt(static_cast<double>(2 * D_axis::extent));
  auto const result = os::zeros_like(o.q);
  in_steps([&](std::int64_t from, std::int64_t to) {
    os::from_position const at{from};
    auto const piece = [=](auto const& a) { return os::window<S>(a, from, to); };
    os::append<K>(cache, os::rename<S, K>(piece(o.latents)),
                  os::rename<S, K>(os::rope<S, F, P>(piece(o.k_rotary), at)));
    auto const q = os::einsum<B/X, S, H/Y, C>(piece(o.q), o.up_keys, os::no_communication);
    auto const mixed =
        os::latent_attention<S, K, C>(q, cache.keys, cache.keys, os::rope<S, F, P>(piece(o.q_rotary), at), cache.values,
                                      os::causal, at, os::score_scale(scale));
    os::write_at<S>(result, from, os::einsum<B/X, S, H/Y, D>(mixed, o.up_values, os::no_communication));
  });
  return result;
}

auto latents_at_once(mesh_type const& one) {
  latent_operands<os::rules<>{}> const o(one);
  auto const k = os::rename<S, K>(os::einsum<B, S, H, D>(o.latents, o.up_keys));
  auto const v = os::rename<S, K>(os::einsum<B, S, H, D>(o.latents, o.up_values));
  return os::latent_attention<S, K, D>(o.q, k, v, os::rope<S, F, P>(o.q_rotary),
                                       os::rename<S, K>(os::rope<S, F, P>(o.k_rotary)), os::causal);
}

}  // namespace

void decoding(mesh_type const& mesh, mesh_type const& one, verdict& v) {
  auto const wanted = at_once(one);
  std::int64_t by_heads = 0, by_length = 0, longer = 0, cached = 0;
  auto const head_wise = decode<heads_split>(mesh, 32, by_heads);
  auto const length_wise = decode<length_split>(mesh, 32, by_length);
  auto const with_more_room = decode<length_split>(mesh, 1024, longer);
  auto const latent_wise = decode_latents(mesh, cached);
  auto const says = [&](char const* what, std::int64_t bytes) {
    if (mesh.device() == 0)
      std::printf("%s: a step moves %s per device\n", what, os::planner::describe_bytes(bytes).c_str());
  };
  says("decoding, cache divided over heads", by_heads);
  v.expect_same("17 positions prefilled, 7 decoded", head_wise, wanted);
  says("decoding, cache divided over its length", by_length);
  v.expect_same("room for 32 positions", length_wise, wanted);
  v.expect_same("room for 1024 positions", with_more_room, wanted);
  if (mesh.device() == 0) v.expect("as many bytes for a long cache as for a short one", by_length == longer);
  says("decoding, latents cached", 0);
  if (mesh.device() == 0)
    std::printf("  of a position %lld B are cached for all heads, where keys and values of 8 heads are %lld B\n",
                static_cast<long long>(cached), static_cast<long long>(2 * 8 * D_axis::extent * sizeof(float)));
  v.expect_same("latents", latent_wise, latents_at_once(one));
}
