// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_gather<I/X>(a)`: in the body of os::shard_map, the blocks of the devices along X, one after the
/// other along I, or, if the block has no axis I, stacked along it. float[I] {V_X} → float[I]; float[J] {V_X} →
/// float[I, J]

#include <concepts>
#include <type_traits>

#include <ostraka/engine/block_collectives/gather_rows.hpp>
#include <ostraka/local_view/collectives/gather_and_scatter.hpp>
#include <ostraka/moves/all_gather.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::operation {

/// The operation of os::all_gather<I/X>. All devices along X get the same result, so it does not vary along X. A new
/// axis comes first. Moves n − 1 blocks to each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if other extents than I's differ along `Ms`
template <class I, class... Ms>
struct all_gather<over<I, Ms...>> : detail::collective<all_gather<over<I, Ms...>>> {
  static constexpr char const* name = "all_gather";
  template <class A>
  static constexpr bool stacks = position_in<I, axes_in<A>> < 0;
  template <class A, class... Untiled>
  using verdict = detail::first_fault<
      std::conditional_t<sizeof...(Untiled) == 0, reason::ok, detail::new_axis_verdict<A, I>>,
      detail::varies_verdict<A, Ms...>,
      std::conditional_t<stacks<A>, detail::untiled_extent_verdict<I, Ms...>, reason::ok>>;
  template <class A>
  using move = detail::lifted_move<
      step::all_gather,
      typename std::conditional_t<stacks<A>, detail::lifted_as_stack<A, I, Ms...>,
                                  detail::lifted_as_division<A, I, Ms...>>::type,
      void, Ms...>;
  template <class A, class...>
  using moves = typename detail::moves_of_blocks_along<move<A>, A, I, Ms...>::type;
  template <class A, class...>
  using refused = detail::whole_after_error<A>;

  template <class When, class A, std::same_as<untiled_axis>... Untiled>
  auto run(When const&, A const& a, Untiled...) const {
    if constexpr (!stacks<A>)
      if (detail::origin_in<I>(a).whole == detail::extent_origin::of_its_own || detail::origin_in<I>(a).shifted != 0)
        return gather_rows<When>(a);
    return detail::run_lifted<move<A>, void, When>(name, a);
  }

 private:
  // Blocks of any extents along I, which the devices send each other first.
  template <class When, class A>
  [[gnu::cold]] static auto gather_rows(A const& a) {
    using result_type = basic_tensor<typename A::value_type, detail::invariant_over<sharding_in<A>, type_list<Ms...>>,
                                     typename A::space>;
    if constexpr (!std::is_same_v<typename detail::divisor_of<I, sharding_in<A>>::type, I>)
      throw_not_nested_own(I::name);
    detail::blocks_along<I, A, Ms...> all(name, a);
    auto& g = all.g;
    auto& origins = all.origins;
    constexpr auto along = decltype(all)::axis;
    auto const own = detail::readable_block(a);
    auto extents = a.extents();
    extents[along] = all.total();
    bool known = origins[along].whole != detail::extent_origin::of_its_own;  // else the extent may differ on other
                                                                             // devices
    for (int k = 0; k < origins[along].over.size(); ++k)
      known = known && (g.w.bits_of(g.axes) >> origins[along].over[k] & 1u) != 0;
    origins[along] = known ? detail::extent_origin{} : detail::extent_origin{detail::extent_origin::of_its_own};
    auto const result = detail::make_block_like<result_type>(a, extents, origins, static_cast<int>(along));
    return detail::launch_on<When>(g, result, a, [&] {
      return engine::begin_gather_rows(detail::execution_space_of<A>(), g.w, all.block, g.axes, static_cast<int>(along),
                                       engine::counts_view(all.lengths), own, detail::writable_block(result));
    });
  }

  [[noreturn, gnu::cold]] static void throw_not_nested_own(std::string_view axis) {
    throw_error("all_gather: blocks of unequal extents are gathered along an axis that the body does not divide, but ",
                axis, " is divided there; os::reshard the block first");
  }
};

/// The type of os::all_gather_invariant<I/X>. This template serves arguments that are not a divided axis.
template <class Dim>
struct all_gather_invariant : detail::collective<all_gather_invariant<Dim>> {
  template <class...>
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class I, class... Ms>
struct all_gather_invariant<over<I, Ms...>> : detail::collective<all_gather_invariant<over<I, Ms...>>> {
  using gather = all_gather<over<I, Ms...>>;
  static constexpr char const* name = "all_gather_invariant";
  template <class A, class... Untiled>
  using verdict = typename gather::template verdict<A, Untiled...>;
  template <class A, class... Untiled>
  using moves = typename gather::template moves<A, Untiled...>;
  template <class A, class... Untiled>
  using refused = typename gather::template refused<A, Untiled...>;

  template <class When, class A, class... Untiled>
  auto run(When const& when, A const& a, Untiled... untiled) const {
    return gather{}.run(when, a, untiled...);
  }
};

}  // namespace ostraka::operation

namespace ostraka {

/// os::all_gather<I/X> for a result that all devices use in the same way. On tensors it is the same operation. In a
/// derivative, each device takes its own part of the cotangent, which all devices have, and nothing is reduced.
template <auto Dim>
inline constexpr operation::all_gather_invariant<detail::type_of<Dim>> all_gather_invariant{};

/// Starts os::all_gather<I/X>: it reads its operand until `wait` (pending.hpp).
template <auto Dim>
inline constexpr detail::started<operation::all_gather<detail::type_of<Dim>>> start_all_gather{};

}  // namespace ostraka
