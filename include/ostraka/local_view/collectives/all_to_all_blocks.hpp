// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_to_all<I/X, J/X>(a)`: in the body of os::shard_map, blocks that were parts of I become parts of J.
/// Device d along X receives block d along J from each device, and concatenates them along I. float[I, J] {V_X} →
/// float[I, J] {V_X}. `os::all_to_all<I/X, I/X>(a)` does both along one axis.

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/local_view/collectives/collective.hpp>
#include <ostraka/moves/all_to_all.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

// The block [J, I] {V_X} as [J, from_X, to, I]: part `to` of I on device `from` goes to device `to`, and is part `from`
// there.
struct part_from : declared<part_from, axis<"from">> {};
struct part_to : declared<part_to, axis<"to">> {};

template <class Entry, class I, class... Ms>
struct entry_in_parts {
  using type = Entry;
};
template <class I, class... Ms>
struct entry_in_parts<I, I, Ms...> {
  using type = sharding<over<part_from, Ms...>, part_to, I>;
};

template <class Sharding, class I, class... Ms>
struct in_parts;
template <class... Entries, class I, class... Ms>
struct in_parts<sharding<Entries...>, I, Ms...> {
  static constexpr bool is_whole = is_one_of<I, Entries...>;
  using type = canonical_sharding<typename entry_in_parts<Entries, I, Ms...>::type...>;
};

[[noreturn, gnu::cold]] inline void throw_no_equal_parts(std::string_view axis, std::int64_t extent, int devices) {
  throw_error("all_to_all: along an axis that is both split and concatenated each device gets an equal part, but ",
              axis, " = ", extent, " for ", devices,
              "; choose an extent that they divide, or concatenate along another axis");
}

// Splits and concatenates along I.
template <class Move, class I, class When, class A>
auto exchange_parts(A const& a) {
  engine::execution_context w = engine::make_context(
      *common_mesh("all_to_all", a), names_of<typename Move::mesh>.data(), Move::mesh::size, "all_to_all");
  using labels = typename Move::labels;
  w.names.labels = names_of<labels>.data();
  w.sizes.labels = labels::size;
  std::int64_t const devices = w.sizes.ways(Move::moved);
  [&]<class... Ls>(type_list<Ls...>) {
    ((w.sizes.label[position_in<Ls, labels>] = std::int64_t(a.extent(Ls{}))), ...);
    (void(origin_in<Ls>(a).is_alike() || (throw_extents_differ("all_to_all", Ls::name), true)), ...);
  }(axes_in<A>{});
  std::int64_t const extent = a.extent(I{});
  if (extent % devices != 0) throw_no_equal_parts(I::name, extent, static_cast<int>(devices));
  w.sizes.label[position_in<I, labels>] = extent / devices;
  w.sizes.label[position_in<part_from, labels>] = devices;
  w.sizes.label[position_in<part_to, labels>] = devices;
  auto const result = uninitialised_like(a);
  static constexpr planner::spec from = Move::from, to = Move::to;
  static thread_local constinit engine::schedule_memory* memory = nullptr;
  auto const* const block = elements_of(a);
  return When::run(result, std::tuple(a.local()), execution_space_of<A>(), w, planner::plan_view(from, to, Move::steps),
                   &block, result.local().data(), engine::update<typename A::value_type>(), engine::per_thread(memory),
                   functions_of_moves<Move, A>());
}

template <class A, class I>
consteval auto check_parts() {
  if constexpr (A::rank + 2 > max_rank)
    return found<reason::too_many_axes<A::rank + 2>>{};
  else if constexpr (position_in<I, axes_in<A>> < 0)
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  else if constexpr (!in_parts<sharding_in<A>, I>::is_whole)
    return found<reason::split_axis_is_divided<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

template <class A, class I, class J, class Untiled, class... Ms>
using all_to_all_verdict = std::conditional_t<
    Untiled::size == 0, first_fault<varies_verdict<A, Ms...>, has_axis_verdict<A, I>, has_axis_verdict<A, J>>,
    first_fault<varies_verdict<A, Ms...>, new_axis_verdict<A, I>, has_axis_verdict<A, J>,
                untiled_extent_verdict<I, Ms...>, untiled_extent_verdict<J, Ms...>>>;

template <class A, class I, class Untiled, class... Ms>
using exchange_of_parts_verdict =
    std::conditional_t<Untiled::size == 0,
                       first_fault<varies_verdict<A, Ms...>, typename decltype(check_parts<A, I>())::type>,
                       reason::untiled_axis_already_exists<I, sharding_in<A>>>;

// The move of all_to_all<I/X, J/X>. The pack is a list here because CUDA 13.0's cudafe++ crashes on a pack in the
// operation's alias.
template <class A, class I, class J, class Untiled, class... Ms>
using exchange_of_blocks = lifted_move<step::all_to_all,
                                       typename std::conditional_t<Untiled::size == 0, lifted_as_division<A, I, Ms...>,
                                                                   lifted_as_stack<A, I, Ms...>>::type,
                                       J, Ms...>;

// The extents of [J, from_X, to, I].
template <class Sizes, class I, class... Ms>
struct sizes_in_parts {
  Sizes const& of_block;

  template <class Label>
  [[nodiscard]] constexpr std::int64_t of() const {
    if constexpr (std::is_same_v<Label, part_from> || std::is_same_v<Label, part_to>)
      return (std::int64_t{1} * ... * of_block.template of<Ms>());
    else if constexpr (std::is_same_v<Label, I>)
      return of_block.template of<I>() / of<part_to>();
    else
      return of_block.template of<Label>();
  }
  template <class... Others>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    return of_block.template side_by_side<Others...>();
  }
};

template <class Move, class A, class I, class... Ms>
struct moves_of_parts_along {
  template <class Sizes>
  using lifted = sizes_in_parts<Sizes, I, Ms...>;
  using type = moves_of_lifted<moves_of_plan<move_source<Move, A>>, lifted>;
};

}  // namespace ostraka::detail

namespace ostraka::operation {

/// The operation of os::all_to_all<I/X, J/X>. With os::untiled as the last argument J has one index for each device and
/// is dropped, and I is new and comes first. Moves (n−1)/n of the block on each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if extents other than I's differ along `Ms`, or an untiled axis has
/// another extent
template <class I, class J, class... Ms>
struct all_to_all<over<I, Ms...>, over<J, Ms...>> : detail::collective<all_to_all<over<I, Ms...>, over<J, Ms...>>> {
  static constexpr char const* name = "all_to_all";
  template <class A, class... Untiled>
  using verdict = detail::all_to_all_verdict<A, I, J, type_list<Untiled...>, Ms...>;
  template <class A, class... Untiled>
  using move = detail::exchange_of_blocks<A, I, J, type_list<Untiled...>, Ms...>;
  template <class A, class... Untiled>
  using moves = typename detail::moves_of_blocks_along<move<A, Untiled...>, A, I, Ms...>::type;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::run_lifted<move<A>, void, When>(name, a);
  }
  template <class When, class A>
  auto run(When const&, A const& a, untiled_axis) const {
    return detail::run_lifted<move<A, untiled_axis>, J, When>(name, a);
  }
};

/// The operation of os::all_to_all<I/X, I/X>: part d of I goes to device d, and the arriving parts are concatenated
/// along I.
/// @throws ostraka::error, on all devices alike, unless the blocks have the same extents and X divides I
template <class I, class... Ms>
struct all_to_all<over<I, Ms...>, over<I, Ms...>> : detail::collective<all_to_all<over<I, Ms...>, over<I, Ms...>>> {
  static constexpr char const* name = "all_to_all";
  template <class A, class... Untiled>
  using verdict = detail::exchange_of_parts_verdict<A, I, type_list<Untiled...>, Ms...>;
  template <class A>
  using move = detail::lifted_move<
      step::all_to_all,
      typename detail::in_parts<detail::invariant_over<sharding_in<A>, type_list<Ms...>>, I, Ms...>::type,
      detail::part_to, Ms...>;
  template <class A>
  using moves = typename detail::moves_of_parts_along<move<A>, A, I, Ms...>::type;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::exchange_parts<move<A>, I, When>(a);
  }
};

}  // namespace ostraka::operation

namespace ostraka {

/// Starts os::all_to_all<I/X, J/X>: it reads its operand until `wait` (pending.hpp).
template <auto From, auto To>
inline constexpr detail::started<operation::all_to_all<detail::type_of<From>, detail::type_of<To>>> start_all_to_all{};

}  // namespace ostraka
