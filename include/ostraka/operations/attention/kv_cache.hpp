// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::kv_cache`: the keys and values of all positions so far, in tensors with room for more. The devices
/// that hold the positions of appended rows write them. Nothing moves, for any division of heads, batches and
/// positions:
///
///     os::kv_cache cache{os::zeros<float, B, K/X, G, D>(mesh, sizes), os::zeros<float, B, K/X, G, D>(mesh, sizes)};
///     os::append<K/X>(cache, k, v);                                                // [B, K, G, D]: the new positions
///     os::attention<Q, K/X, D>(q, cache.keys, cache.values, os::causal, os::from_position(t));
///
/// The causal mask also hides positions that are not written yet. For latent attention, the two tensors are latents and
/// rotary keys.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/operations/indices/write_at.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// Keys and values, with the number of positions written so far. @pre keys and values have the same extent along
/// positions
template <class Keys, class Values>
struct kv_cache {
  /// The keys of all positions.
  Keys keys;
  /// The values of all positions.
  Values values;
  std::int64_t length = 0;  ///< number of positions that are written
};
template <class Keys, class Values>
kv_cache(Keys, Values) -> kv_cache<Keys, Values>;

namespace detail {

// The number of positions in A; 1 if it lacks the axis.
template <class Positions, class A>
std::int64_t positions_in(A const& a) {
  constexpr int at = position_in<Positions, axes_in<A>>;
  if constexpr (at < 0)
    return 1;
  else
    return a.extents()[static_cast<std::size_t>(at)];
}

}  // namespace detail

/// Appends the keys and values of the next positions to a cache. Name the axis of positions with the mesh axes that
/// divide it in the cache: `K`, `K/X`. `k` and `v` have the layout of the cache, but with the positions undivided.
/// Nothing moves.
/// @throws ostraka::error, on all devices alike, if the cache is full, or keys and values have different numbers of
/// positions; the cache's length is then unchanged
template <auto Dim, class Keys, class Values, TensorOrVariable K, TensorOrVariable V>
void append(kv_cache<Keys, Values>& cache, K const& keys, V const& values) {
  if constexpr (detail::any_stand_in<K, V>) {
    reason::raise<reason::cache_of_variables<std::conditional_t<detail::any_stand_in<K>, K, V>>>();
  } else {
    using positions = typename detail::axis_argument<detail::type_of<Dim>>::axis;
    std::int64_t const count = detail::positions_in<positions>(keys), others = detail::positions_in<positions>(values);
    if (count != others)
      throw_error("append: keys and values are of the same positions, but ", count, " keys and ", others,
                  " values were given; append both of each position together");
    write_at<Dim>(cache.keys, cache.length, keys);
    write_at<Dim>(cache.values, cache.length, values);
    cache.length += count;
  }
}

}  // namespace ostraka
