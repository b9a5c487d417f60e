// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::transpose<J, I>(A)`: the axes in another order, each divided as before. A copy on each device.
///
///     transpose<J, I>    [I_X, J] {U_Y} → [J, I_X] {U_Y}

#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/blocks/copy_aligned.hpp>
#include <ostraka/operations/shapes/product_axis.hpp>
#include <ostraka/plan/typed/checks.hpp>

namespace ostraka {

namespace detail {

template <class Sharding, class Partials, class... Is>
struct in_order;
template <class Sharding, class... Partials, class... Is>
struct in_order<Sharding, type_list<Partials...>, Is...> {
  using type = canonical_sharding<typename divided_over<Is, splits_of<Is, Sharding>>::type..., Partials...>;
};

template <class I, class A>
consteval auto check_transposed_axis() {
  if constexpr (position_in<I, axes_in<A>> < 0)
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

}  // namespace detail

namespace operation {

template <class... Is>
struct transpose : detail::moves_nothing {
  static constexpr char const* name = "transpose";

  template <class A>
  using result = typename detail::in_order<
      sharding_in<A>, typename sharding_traits<sharding_in<A>>::partial_entries, Is...>::type;

  template <class A>
  static consteval auto check() {
    using own = detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict,
                                    detail::blocks_verdict<sharding<>, A>,
                                    typename decltype(detail::check_transposed_axis<Is, A>())::type...>;
    using left_out = difference_of<axes_in<A>, type_list<Is...>>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else if constexpr (left_out::size > 0)
      return detail::found<reason::transpose_leaves_out<typename detail::type_at<left_out, 0>::type, sharding_in<A>>>{};
    else
      return detail::found<typename sharding_traits<result<A>>::verdict>{};
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using result_type = basic_tensor<typename A::value_type, varying_as<result<A>, A>, typename A::space>;
    using labels = type_list<Is...>;
    using mesh = mesh_axes_in<A>;
    static constexpr planner::spec out = spec_of<result_type, labels, mesh>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a);
    auto const t = detail::allocate_for<result_type, labels, mesh>(w, a);
    engine::copy_aligned(detail::execution_space_of<result_type>(), w, out, t.local().data(),
                         engine::align(w, spec_of<A, labels, mesh>, out, detail::elements_of(a)));
    return t;
  }
};

}  // namespace operation

/// All axes of A in this order, with their divisions.
template <auto... Is, TensorOrVariable A>
[[nodiscard]] constexpr auto transpose(A const& a) {
  return detail::operate(operation::transpose<detail::type_of<Is>...>{}, a);
}

}  // namespace ostraka
