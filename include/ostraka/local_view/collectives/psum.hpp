// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::psum<X>(a)`, os::pmean, os::pmax, os::pmin, os::pprod: in the body of os::shard_map, the blocks of the
/// devices along X combined element by element; all of these devices have the result. float[I] {V_X} → float[I]

#include <type_traits>
#include <utility>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view/collectives/collective.hpp>

namespace ostraka {

namespace verb {

/// The type of os::psum<X> and its like.
template <reduction How, class... Ms>
struct combine_blocks : detail::collective<combine_blocks<How, Ms...>> {
  template <class When, class A>
  static auto call(A const& a) {
    using verdict = typename decltype(detail::check_block_reduction<combine_blocks, How, A, Ms...>())::type;
    if constexpr (detail::may_move<verdict, A>()) {
      using lifted = typename detail::lifted_as_part<A, How, Ms...>::type;
      return detail::run_lifted<detail::lifted_move<step::all_reduce, lifted, void, Ms...>, void, When>(name(), a);
    } else {
      return detail::whole_after_error<A>{};
    }
  }

  static constexpr char const* name() {
    return How == reduction::sum ? "psum" : How == reduction::max ? "pmax" : How == reduction::min ? "pmin" : "pprod";
  }
};

/// The type of os::pmean<X>.
template <class... Ms>
struct mean_of_blocks : detail::collective<mean_of_blocks<Ms...>> {
  template <class When, class A>
  static auto call(A const& a) {
    using value = typename A::value_type;
    using verdict = detail::first_fault<
        typename decltype(detail::check_block_reduction<mean_of_blocks, reduction::sum, A, Ms...>())::type,
        std::conditional_t<std::is_integral_v<value>, reason::mean_of_integers<value>, reason::ok>>;
    if constexpr (detail::may_move<verdict, A>()) {
      using lifted = typename detail::lifted_as_part<A, reduction::sum, Ms...>::type;
      using wide = accumulator_of_t<value>;
      auto sum = detail::run_lifted<detail::lifted_move<step::all_reduce, lifted, void, Ms...>, void, When>("pmean", a);
      int devices = 1;
      ((devices *= a.mesh_handle()->size(a.mesh_handle()->find(Ms::name))), ...);
      auto const divide = [devices](auto const& mean) {
        detail::apply_in_place("pmean", mean,
                               detail::divide_by<value>{wide(static_cast<detail::real_of<wide>>(devices))});
      };
      if constexpr (is_pending<decltype(sum)>) {
        return pending_and(std::move(sum), divide);
      } else {
        divide(sum);
        return sum;
      }
    } else {
      return detail::whole_after_error<A>{};
    }
  }
};

}  // namespace verb

/// The sum of the blocks over the mesh axes `Ms`, along which they vary; the result does not. Moves 2(n−1)/n of the
/// block on each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if blocks have different extents along `Ms`
template <auto... Ms>
inline constexpr verb::combine_blocks<reduction::sum, detail::type_of<Ms>...> psum{};

/// The largest of them; NaN wins.
template <auto... Ms>
inline constexpr verb::combine_blocks<reduction::max, detail::type_of<Ms>...> pmax{};

/// The smallest of them; NaN wins.
template <auto... Ms>
inline constexpr verb::combine_blocks<reduction::min, detail::type_of<Ms>...> pmin{};

/// Their product.
template <auto... Ms>
inline constexpr verb::combine_blocks<reduction::prod, detail::type_of<Ms>...> pprod{};

/// Their mean over the devices, each counting alike; not of integers.
template <auto... Ms>
inline constexpr verb::mean_of_blocks<detail::type_of<Ms>...> pmean{};

/// The same, begun: it reads its operand until `wait` (pending.hpp).
template <auto... Ms>
inline constexpr detail::started<verb::combine_blocks<reduction::sum, detail::type_of<Ms>...>> start_psum{};
template <auto... Ms>
inline constexpr detail::started<verb::combine_blocks<reduction::max, detail::type_of<Ms>...>> start_pmax{};
template <auto... Ms>
inline constexpr detail::started<verb::combine_blocks<reduction::min, detail::type_of<Ms>...>> start_pmin{};
template <auto... Ms>
inline constexpr detail::started<verb::combine_blocks<reduction::prod, detail::type_of<Ms>...>> start_pprod{};
template <auto... Ms>
inline constexpr detail::started<verb::mean_of_blocks<detail::type_of<Ms>...>> start_pmean{};

}  // namespace ostraka
