// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::attention<Q, K, D>(q, k, v)`: softmax over the keys K of the products over the width D of queries and
/// keys, times values. All other axes (batches, heads, groups of heads) are matched by name.
///
///     q               k               v               result
///     [B_X, H_Y, Q, D]  [B_X, H_Y, K, D]  [B_X, H_Y, K, D]  [B_X, H_Y, Q, D]   attention<Q, K, D>     nothing moved
///     [B, H, Q_X, D]    [B, H, K, D]      [B, H, K, D]      [B, H, Q_X, D]     attention<Q, K, D>     nothing moved
///     [B, G, R, Q, D]   [B, G, K, D]      [B, G, K, D]      [B, G, R, Q, D]    grouped queries, the same
///     [B, H, Q, D]      [B, H, K_X, D]    [B, H, K_X, D]    [B, H, Q, D]       attention<Q, K/X, D>   all_reduce<X>:
///                              for each query a maximum, a sum and the weighted sum of values; keys and values stay
///
/// If the same mesh axis divides queries and keys, the call must name the move: keys and values travel from device to
/// device, `os::attention<Q, K/X, D>(q, k, v, os::ring)` (ring_attention.hpp), or are gathered, `os::attention<Q, K,
/// D>(q, os::all_gather<X>(k), os::all_gather<X>(v))`.

#include <type_traits>

#include <ostraka/operations/attention/paged_attention.hpp>
#include <ostraka/operations/attention/tiled_attention.hpp>

namespace ostraka {

namespace detail {

/// Runs attention with these options.
template <class Q, class K, class D, class Out, class... Options>
struct attention_with {
  using operation_type = ostraka::operation::attention<Q, K, D, Out>;
  static constexpr bool may_be_tiled = std::is_void_v<Out> && !(needs_whole_scores<Options> || ...);

  template <class TQ, class TK, class TV>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, Options const&... options) {
    if constexpr (reason::ok_or_raise<attention_options_verdict<operation_type, Options...>>()) {
      std::conditional_t<may_be_tiled, ostraka::operation::tiled_attention<Q, K, D>, operation_type> operation;
      (set_option(operation, options), ...);
      (set_stripes(operation, q, options), ...);
      return with_tensors_among([&](auto const&... mask) { return operate(operation, q, k, v, mask...); }, options...);
    } else {
      return q;
    }
  }
};

}  // namespace detail

/// Attention: the softmax over K of the products of queries and keys over D, times the values. Name K with the mesh
/// axes that divide it: if X divides it (a cache that is divided over its length), `K/X` authorises all-reduces of a
/// query's sums, and keys and values stay in place. The result has the sharding of the queries with the values' width
/// in place of D, or `Out…`. Options follow the operands: a mask (a tensor of truth values along any axes of the
/// scores; a query sees a key where it is true), `os::causal`, `os::from_position(t)`, `os::score_scale(s)`,
/// `os::striped<X>`. A key or value that is hidden from a query affects neither its result nor any derivative, even if
/// it is NaN, so a cache may hold any numbers beyond the position. 16-bit elements are computed in float. The result of
/// a query that sees no key is zeros.
template <auto Q, auto K, auto D, auto... Out, TensorOrVariable TQ, TensorOrVariable TK, TensorOrVariable TV,
          class... Options>
[[nodiscard]] constexpr auto attention(TQ const& q, TK const& k, TV const& v, Options const&... options) {
  using out = typename detail::result_argument<Out...>::type;
  if constexpr ((detail::is_paged<Options> || ...))
    return detail::paged_attention_with<detail::type_of<Q>, detail::type_of<K>, detail::type_of<D>, out,
                                        Options...>::run(q, k, v, options...);
  else
    return detail::attention_with<detail::type_of<Q>, detail::type_of<K>, detail::type_of<D>, out, Options...>::run(
        q, k, v, options...);
}

}  // namespace ostraka
