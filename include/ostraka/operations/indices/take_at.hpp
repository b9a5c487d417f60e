// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::take<T>(A, 3)`: one index of an axis, which the result lacks: x[:, 3]. It is an os::take by an index
/// tensor without axes. The index is an argument of the call, so it is checked on the host.
///
///     take<T>          [B_X, T, H]    → [B_X, H]     nothing moved
///     take<T, B, H>    [B, T_X, H]    → [B, H]       all_reduce<X> of [B, H]

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/operations/indices/scatter_add.hpp>
#include <ostraka/operations/indices/take.hpp>

namespace ostraka {

namespace detail {

/// The type of an index tensor that is one number, for a tensor A.
template <class A>
using one_index = basic_tensor<std::int64_t, sharding<>, typename A::space>;

template <class A>
one_index<A> make_index(char const* operation, A const& a, std::int64_t at) {
  auto const index = allocate<one_index<A>>(a.mesh_handle(), {});
  fill_block(operation, index, at);
  return index;
}

/// Throws, on all devices alike, unless the axis has that index on all of them.
template <class V, class A>
void check_index(char const* operation, A const& a, std::int64_t at) {
  std::int64_t const extent = least_extent<V>(operation, a);
  if (at >= 0 && at < extent) return;
  engine::execution_context const w = context_of<type_list<>, type_list<>>(operation, a);
  engine::detail::throw_wrong_index(w, {}, V::name, extent, at, {});
}

}  // namespace detail

namespace operation {

/// The operation of os::take by one index. `Out`: the result's sharding, void if the call does not name it.
template <class V, class Out = void>
struct take_at {
  static constexpr char const* name = "take";
  using by_tensor = take<V, Out, detail::promised_range>;

  std::int64_t at = 0;

  template <class A>
  using verdict = typename by_tensor::template verdict<A, detail::one_index<A>>;

  template <class A>
  using moves = typename by_tensor::template moves<A, detail::one_index<A>>;

  template <class How, class A>
  auto run(How const& how, A const& a) const {
    detail::check_index<V>(name, a, at);
    return by_tensor{}.run(how, a, detail::make_index(name, a, at));
  }
};

/// The transpose of take_at: zeros except at one index of a new axis V. The derivative calls it.
template <class V, class Out>
struct put_at {
  static constexpr char const* name = "take";
  using by_tensor = scatter_add<V, Out, detail::promised_range>;

  std::int64_t at = 0;
  std::int64_t extent = 0;            ///< of V
  detail::extent_origin origin = {};  ///< for a block: the origin of that extent

  template <class A>
  using verdict = typename by_tensor::template verdict<A, detail::one_index<A>>;

  template <class A>
  using moves = typename by_tensor::template moves<A, detail::one_index<A>>;
  [[nodiscard]] constexpr named_extent<V> made() const { return {V{}, extent}; }

  template <class How, class A>
  auto run(How const& how, A const& a) const {
    return by_tensor{{extent, origin}}.run(how, a, detail::make_index(name, a, at));
  }
};

}  // namespace operation

/// One index of an axis, which the result lacks, x[:, at]: `os::take<T>(A, 3)` moves nothing, and T is whole;
/// `os::take<T, B, H>(A, 3)` names the result, and moves the elements taken. For several indices, call os::take with an
/// index tensor; for a range, os::window.
/// @throws ostraka::error, on all devices alike and before anything moves, unless 0 ≤ at < extent
template <auto V, TensorOrVariable A, std::integral Index>
  requires(!std::is_same_v<Index, bool>)
[[nodiscard]] constexpr auto take(A const& a, Index at) {
  return detail::operate(operation::take_at<detail::type_of<V>>{static_cast<std::int64_t>(at)}, a);
}
template <auto V, auto First, auto... Out, TensorOrVariable A, std::integral Index>
  requires(!std::is_same_v<Index, bool>)
[[nodiscard]] constexpr auto take(A const& a, Index at) {
  using take_at = operation::take_at<detail::type_of<V>, sharding_of<First, Out...>>;
  return detail::operate(take_at{static_cast<std::int64_t>(at)}, a);
}

}  // namespace ostraka
