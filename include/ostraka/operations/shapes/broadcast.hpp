// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::broadcast<B/X, I>(A, B = 8)`: the same values for each index of axes that A lacks. Each device makes
/// its part, so nothing moves. The derivative of a sum is a broadcast.
///
///     broadcast<B/X, I/Y>    [I_Y]           → [B_X, I_Y]
///     broadcast<I, B, J>     [I, J] {U_Y}    → [I, B, J] {U_Y}      with os::partial(Y) among the dimensions

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/blocks/copy_aligned.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka {

namespace detail {

template <class A, class Out, class... Is>
consteval bool sharded_alike(type_list<Is...>) {
  using one = sharding_traits<sharding_in<A>>;
  using other = sharding_traits<Out>;
  return std::is_same_v<typename one::partial_entries, typename other::partial_entries> &&
         (std::is_same_v<splits_of<Is, sharding_in<A>>, splits_of<Is, Out>> && ...);
}

}  // namespace detail

namespace operation {

template <class Out>
struct broadcast : detail::moves_nothing {
  static constexpr char const* name = "broadcast";
  static constexpr int rank = axes_in<Out>::size;
  std::array<std::int64_t, static_cast<std::size_t>(rank)> extents{};  ///< extents of the axes of Out that the operand
                                                                       ///< lacks
  detail::extent_origins<rank> origins{};                              ///< the origins of these extents

  template <class A>
  static consteval auto check() {
    using own = detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict,
                                    typename sharding_traits<Out>::verdict, detail::blocks_verdict<Out, A>>;
    using left_out = difference_of<axes_in<A>, axes_in<Out>>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else if constexpr (left_out::size > 0)
      return detail::found<reason::axis_missing<typename detail::type_at<left_out, 0>::type, Out>>{};
    else if constexpr (!detail::sharded_alike<A, Out>(axes_in<A>{}))
      return detail::found<reason::broadcast_sharding_mismatch<sharding_in<A>, Out>>{};
    else
      return detail::found<reason::ok>{};
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  /// The extents of the axes that the operand lacks.
  template <class A>
  [[nodiscard]] constexpr auto made(A const&) const {
    return made_along(difference_of<axes_in<Out>, axes_in<A>>{});
  }

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using result_type = basic_tensor<typename A::value_type, varying_as<Out, A>, typename A::space>;
    using labels = axes_in<Out>;
    using mesh = union_of<mesh_axes_in<Out>, mesh_axes_in<A>>;
    static constexpr planner::spec out = spec_of<Out, labels, mesh>;
    engine::execution_context w = detail::context_of<labels, mesh>(name, a);
    for (int i = 0; i < rank; ++i)
      if (w.sizes.label[i] < 0) w.sizes.label[i] = extents[static_cast<std::size_t>(i)];
    result_type t(detail::allocate_unnamed<typename A::value_type, rank, typename A::space>(a.mesh_handle(), w, out));
    set_origins(t, a, labels{});
    engine::copy_aligned(detail::execution_space_of<result_type>(), w, out, t.local().data(),
                         engine::align(w, spec_of<A, labels, mesh>, out, detail::elements_of(a)));
    return t;
  }

 private:
  template <class... Is>
  [[nodiscard]] constexpr sizes<Is...> made_along(type_list<Is...>) const {
    return {named_extent<Is>(Is{}, extents[static_cast<std::size_t>(position_in<Is, axes_in<Out>>)])...};
  }

  template <class TensorType, class A, class... Is>
  void set_origins([[maybe_unused]] TensorType& t, [[maybe_unused]] A const& a, type_list<Is...>) const {
    std::uint32_t const varies = [&]<class... Ms>(type_list<Ms...>) {
      return ((1u << t.mesh_handle()->find(Ms::name)) | ... | 0u);
    }(varying_in<TensorType>{});
    auto const origin = [&]<class I>(std::type_identity<I>) {
      detail::extent_origin const own = origins[static_cast<std::size_t>(position_in<I, axes_in<Out>>)];
      if constexpr (position_in<I, axes_in<A>> >= 0)
        return detail::origin_in<I>(a);
      else
        detail::require_origin(name, I::name, own, varies);
      return own;
    };
    detail::extent_origins<rank> const all{origin(std::type_identity<Is>{})...};
    if constexpr (varying_in<TensorType>::size > 0) t.set_origins(all);
  }
};

}  // namespace operation

/// A with further axes, along which it is repeated. The result has these dimensions, in this order, and the axes of A
/// are divided in it as in A. Give extents of the new axes by name, unless they are static.
template <auto... Out, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto broadcast(A const& a, Given const&... given) {
  using out = sharding_of<Out...>;
  using broadcast = operation::broadcast<out>;
  using fresh = difference_of<axes_in<out>, axes_in<A>>;
  using all_given =
      typename decltype(detail::check_extents_given<(varying_in<A>::size > 0)>(fresh{}, type_list<Given...>{}))::type;
  if constexpr (reason::ok_or_raise<all_given>()) {
    broadcast made;
    auto const enter = [&]<class I>(std::type_identity<I>) {
      constexpr auto at = static_cast<std::size_t>(position_in<I, axes_in<out>>);
      made.extents[at] = detail::checked_extent<(varying_in<A>::size > 0), I>(collect_sizes(given...), broadcast::name);
      (detail::find_origin<I>(made.origins[at], given), ...);
    };
    [&]<class... Is>(type_list<Is...>) { (enter(std::type_identity<Is>{}), ...); }(fresh{});
    return detail::operate(made, a);
  } else {
    return typename detail::refused_of<A, detail::varying_as_one<out, A>>::type();
  }
}

}  // namespace ostraka
