// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::psum<X>(a)`, os::pmean, os::pmax, os::pmin, os::pprod: in the body of os::shard_map, the blocks of the
/// devices along X combined element by element, with the result on all of them. float[I] {V_X} → float[I]

#include <type_traits>
#include <utility>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view/collectives/collective.hpp>

namespace ostraka {

namespace detail {

template <class Operation, class A, class... Ms>
using mean_of_blocks_verdict = first_fault<
    typename decltype(check_block_reduction<Operation, reduction::sum, A, Ms...>())::type,
    std::conditional_t<std::is_integral_v<typename A::value_type>, reason::mean_of_integers<typename A::value_type>,
                       reason::ok>>;

// The base of reductions of blocks over `Ms`.
template <class Operation, reduction How, class... Ms>
struct block_reduction : collective<Operation> {
  template <class A>
  using verdict = typename decltype(check_block_reduction<Operation, How, A, Ms...>())::type;
  template <class A>
  using move = lifted_move<step::all_reduce, typename lifted_as_part<A, How, Ms...>::type, void, Ms...>;
  template <class A>
  using moves = moves_of_plan<move_source<move<A>, A>>;
  template <class A>
  using refused = whole_after_error<A>;
};

}  // namespace detail

namespace operation {

/// The type of os::psum<X>, os::pmax<X>, os::pmin<X> and os::pprod<X>.
template <reduction How, class... Ms>
struct combine_blocks : detail::block_reduction<combine_blocks<How, Ms...>, How, Ms...> {
  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::run_lifted<typename combine_blocks::template move<A>, void, When>(name(), a);
  }

  static constexpr char const* name() {
    return How == reduction::sum ? "psum" : How == reduction::max ? "pmax" : How == reduction::min ? "pmin" : "pprod";
  }
};

/// The type of os::pmean<X>.
template <class... Ms>
struct mean_of_blocks : detail::block_reduction<mean_of_blocks<Ms...>, reduction::sum, Ms...> {
  template <class A>
  using verdict = detail::mean_of_blocks_verdict<mean_of_blocks, A, Ms...>;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    using T = typename A::value_type;
    using wide = accumulator_of_t<T>;
    auto sum = detail::run_lifted<typename mean_of_blocks::template move<A>, void, When>("pmean", a);
    int devices = 1;
    ((devices *= a.mesh_handle()->size(a.mesh_handle()->find(Ms::name))), ...);
    auto const divide = [devices](auto const& mean) {
      detail::apply_in_place("pmean", mean,
                             detail::divide_by<T>{wide(static_cast<detail::real_of<wide>>(devices))});
    };
    if constexpr (is_pending<decltype(sum)>) {
      return pending_and(std::move(sum), divide);
    } else {
      divide(sum);
      return sum;
    }
  }
};

}  // namespace operation

/// The sum of the blocks over the mesh axes `Ms`, along which they vary and the result does not. Moves 2(n−1)/n of the
/// block on each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if blocks have different extents along `Ms`
template <auto... Ms>
inline constexpr operation::combine_blocks<reduction::sum, detail::type_of<Ms>...> psum{};

/// The largest of the blocks over the mesh axes `Ms`, element by element; NaN wins. Otherwise as os::psum.
template <auto... Ms>
inline constexpr operation::combine_blocks<reduction::max, detail::type_of<Ms>...> pmax{};

/// The smallest of the blocks over the mesh axes `Ms`, element by element; NaN wins. Otherwise as os::psum.
template <auto... Ms>
inline constexpr operation::combine_blocks<reduction::min, detail::type_of<Ms>...> pmin{};

/// The product of the blocks over the mesh axes `Ms`. Otherwise as os::psum.
template <auto... Ms>
inline constexpr operation::combine_blocks<reduction::prod, detail::type_of<Ms>...> pprod{};

/// The mean of the blocks over the mesh axes `Ms`, each device with the same weight; not for integers. Otherwise as
/// os::psum.
template <auto... Ms>
inline constexpr operation::mean_of_blocks<detail::type_of<Ms>...> pmean{};

/// Starts the reduction: it reads its operand until `wait` (pending.hpp).
template <auto... Ms>
inline constexpr detail::started<operation::combine_blocks<reduction::sum, detail::type_of<Ms>...>> start_psum{};
template <auto... Ms>
inline constexpr detail::started<operation::combine_blocks<reduction::max, detail::type_of<Ms>...>> start_pmax{};
template <auto... Ms>
inline constexpr detail::started<operation::combine_blocks<reduction::min, detail::type_of<Ms>...>> start_pmin{};
template <auto... Ms>
inline constexpr detail::started<operation::combine_blocks<reduction::prod, detail::type_of<Ms>...>> start_pprod{};
template <auto... Ms>
inline constexpr detail::started<operation::mean_of_blocks<detail::type_of<Ms>...>> start_pmean{};

}  // namespace ostraka
