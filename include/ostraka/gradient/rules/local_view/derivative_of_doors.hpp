// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of entering and leaving a body of os::shard_map. Each is the transpose of the other, and
/// moves nothing. An operand that does not name a manual mesh axis is replicated along it (cotangent_kinds.hpp). The
/// summands of its cotangent, from all its uses in the body, leave as a partial tensor, which is summed once, in the
/// sharding of the operand's cotangents.

#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/rules/local_view/rows_among_zeros.hpp>
#include <ostraka/local_view/doors.hpp>
#include <ostraka/local_view/shard_map.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka {

namespace operation {

/// Turns a block into its tensor. The tensor entered through the door, so its extents are known.
template <class Out, class Manual, int Rank>
struct leave_as_it_came : detail::internal_step<leave_as_it_came<Out, Manual, Rank>> {
  static constexpr char const* name = "leave_as_it_came";
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents;
  detail::extent_origins<Rank> origins;

  template <class B>
  auto run(detail::at_once, B const& b) const {
    using result =
        basic_tensor<typename B::value_type,
                     typename detail::with_varying<Out, difference_of<varying_in<B>, Manual>>::type, typename B::space>;
    result r(b.mesh_handle(), extents, b.local());
    if constexpr (varying_in<result>::size > 0) r.set_origins(origins);
    return r;
  }
};

}  // namespace operation

namespace detail {

// The summands of a tensor of this sharding over the manual mesh axes that it does not name.
template <class Sharding, class Manual>
struct summands_at_door {
  using whole = typename without_parts<invariant_over<Sharding, varying_in<Sharding>>>::type;
  using over = difference_of<Manual, mesh_axes_in<Sharding>>;
  template <class... Ms>
  static auto with_parts(type_list<Ms...>) {
    if constexpr (sizeof...(Ms) == 0)
      return whole{};
    else
      return canonical_sharding<whole, typename partial_of<reduction::sum, type_list<Ms...>>::type>{};
  }
  using type = decltype(with_parts(over{}));
};

template <class Manual, class Sharding, int Rank>
struct enter_pullback {
  using is_door = void;
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents;
  extent_origins<Rank> origins;

  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    using out = typename summands_at_door<Sharding, Manual>::type;
    auto const summands = ostraka::operation::leave_as_it_came<out, Manual, Rank>{{}, extents, origins}(g);
    return summed_to<cotangent_along<Wanted, varying_in<decltype(summands)>>>(summands);
  }
};

template <class Manual>
struct leave_pullback {
  using is_door = void;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    auto const block = ostraka::operation::enter_body<Manual>{}(g);
    return summed_to<cotangent_along<Wanted, varying_in<decltype(block)>>>(block);
  }
};

}  // namespace detail

template <class Manual>
struct derivative_of<operation::enter_body<Manual>> {
  using varies_along = Manual;
  template <class Result, class A>
  static auto pullback(operation::enter_body<Manual>, Result const&, A const& a) {
    using sharding = sharding_in<A>;
    using parts = detail::common_of<typename sharding_traits<sharding>::partials, Manual>;
    if constexpr (parts::size > 0)
      reason::raise<reason::partial_variable_enters<typename detail::type_at<parts, 0>::type, sharding>>();
    return detail::enter_pullback<Manual, sharding, A::rank>{a.extents(), detail::origins_of_operand(a)};
  }
};

template <class Out, class Manual, class Kept>
struct derivative_of<operation::leave_body<Out, Manual, Kept>> {
  using invariant_along = Manual;
  template <class Result, class B>
  static auto pullback(operation::leave_body<Out, Manual, Kept>, Result const&, B const&) {
    return detail::leave_pullback<Manual>{};
  }
};

template <class Out, class Manual, int Rank>
struct derivative_of<operation::leave_as_it_came<Out, Manual, Rank>> {
  using invariant_along = Manual;
  template <class Result, class B>
  static auto pullback(operation::leave_as_it_came<Out, Manual, Rank> const&, Result const&, B const&) {
    return detail::leave_pullback<Manual>{};
  }
};

}  // namespace ostraka
