// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. From tensors to blocks and back, as types: the sharding of a tensor in the body of os::shard_map with the
/// manual mesh axes `Manual`, and the reasons why it cannot be there.

#include <type_traits>

#include <ostraka/plan/typed/varying_results.hpp>

namespace ostraka::detail {

// ---- entering -------------------------------------------------------------------------------------------------------

/// An axis divided over the mesh axes of a list.
template <class A, class MeshAxes>
struct divided_over;
template <class A>
struct divided_over<A, type_list<>> {
  using type = A;
};
template <class A, class M, class... Ms>
struct divided_over<A, type_list<M, Ms...>> {
  using type = over<A, M, Ms...>;
};

template <class P, class MeshAxes>
struct partial_over_rest {
  using type = typename partial_of<P::kind, MeshAxes>::type;
};
template <class P>
struct partial_over_rest<P, type_list<>> {
  using type = sharding<>;  // as a dimension: none
};

// An entry without the manual mesh axes.
template <class Entry, class Manual>
struct inside_entry {
  using type = Entry;
};
template <class A, class... Ms, class Manual>
struct inside_entry<over<A, Ms...>, Manual> {
  using type = typename divided_over<A, difference_of<type_list<Ms...>, Manual>>::type;
};
template <Partial P, class Manual>
struct inside_entry<P, Manual> {
  using type = typename partial_over_rest<P, difference_of<typename P::mesh_axes, Manual>>::type;
};

/// The sharding without these mesh axes in the divisions of axes and in parts.
template <class Sharding, class MeshAxes>
struct gathered;
template <class... Entries, class MeshAxes>
struct gathered<sharding<Entries...>, MeshAxes> {
  using type = canonical_sharding<typename inside_entry<Entries, MeshAxes>::type...>;
};

template <class Sharding, class Manual, class More = common_of<mesh_axes_in<Sharding>, Manual>>
struct inside;
template <class... Entries, class Manual, class... More>
struct inside<sharding<Entries...>, Manual, type_list<More...>> {
  using type = typename with_varying<canonical_sharding<typename inside_entry<Entries, Manual>::type...>,
                                     type_list<More...>>::type;
};

/// The sharding of the block. The manual mesh axes no longer divide axes or hold parts; the block varies along the ones
/// that did.
template <class Sharding, class Manual>
using inside_of = typename inside<Sharding, Manual>::type;

// The first manual mesh axis that follows one that is not manual; void if there is none.
template <class Manual, bool BehindOther, class... Ms>
struct minor_manual {
  using type = void;
};
template <class Manual, bool BehindOther, class M, class... Ms>
struct minor_manual<Manual, BehindOther, M, Ms...> {
  using type = typename std::conditional_t<BehindOther && is_in<M, Manual>, std::type_identity<M>,
                                           minor_manual<Manual, BehindOther || !is_in<M, Manual>, Ms...>>::type;
};

template <class Entry, class Manual>
struct entry_verdict {
  using type = reason::ok;
};
template <class A, class... Ms, class Manual>
struct entry_verdict<over<A, Ms...>, Manual> {
  using minor = typename minor_manual<Manual, false, Ms...>::type;
  using type = std::conditional_t<std::is_void_v<minor>, reason::ok, reason::manual_axis_is_minor<A, minor>>;
};

template <class Sharding, class Manual>
struct enter_check;
template <class... Entries, class Manual>
struct enter_check<sharding<Entries...>, Manual> {
  using type = first_fault<typename entry_verdict<Entries, Manual>::type...>;
};

// `reason::ok` if a tensor can enter a body as a block.
template <class Sharding, class Manual>
using enter_verdict = typename enter_check<Sharding, Manual>::type;

// ---- leaving --------------------------------------------------------------------------------------------------------

// Checks that `Block` can leave as `Out`. `Manual` are the manual mesh axes, and `Kept` the mesh axes along which the
// operands already varied outside.
template <class Block, class Out, class Manual, class Kept>
consteval auto check_leave() {
  using in_out = common_of<mesh_axes_in<Out>, Manual>;
  using escaping = difference_of<varying_in<Block>, concatenation_of<in_out, Kept>>;
  using divided = common_of<mesh_axes_in<Block>, Manual>;
  using own = first_fault<typename sharding_traits<Out>::verdict, enter_verdict<Out, Manual>>;
  using summands = difference_of<common_of<typename sharding_traits<Out>::partials, Manual>, varying_in<Block>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (any_padded<Block>)
    return found<reason::halo_leaves<typename first_halo<axes_in<Block>>::type, Block>>{};
  else if constexpr (!std::is_same_v<axes_in<Block>, axes_in<Out>>)
    return found<reason::result_has_other_axes<Block, Out>>{};
  else if constexpr (divided::size > 0)
    return found<reason::divided_tensor_leaves<typename type_at<divided, 0>::type, Block>>{};
  else if constexpr (escaping::size > 0)
    return found<reason::result_varies_over<typename type_at<escaping, 0>::type, Block>>{};
  else if constexpr (!std::is_same_v<varying_as<inside_of<Out, Manual>, Block>,
                                     varying_as<Block, inside_of<Out, Manual>>>)
    return found<reason::result_divided_differently<Block, Out>>{};
  else if constexpr (summands::size > 0)
    return found<reason::partial_result_does_not_vary<
        typename type_at<summands, 0>::type,
        typename type_at<typename sharding_traits<Out>::partial_entries, 0>::type>>{};
  else
    return found<reason::ok>{};
}

template <class Block, class Out, class Manual, class Kept>
using leave_verdict = typename decltype(check_leave<Block, Out, Manual, Kept>())::type;

// ---- lifting: a block as the tensor that a collective moves ---------------------------------------------------------

// The entry, with A divided over `Ms`, the major ones.
template <class Entry, class A, class... Ms>
struct lifted_entry {
  using type = Entry;
};
template <class A, class... Ms>
struct lifted_entry<A, A, Ms...> {
  using type = over<A, Ms...>;
};
template <class A, class... Rest, class... Ms>
struct lifted_entry<over<A, Rest...>, A, Ms...> {
  using type = over<A, Ms..., Rest...>;
};

template <class Entry, class MeshAxes>
struct varying_less {
  using type = Entry;
};
template <class... Vs, class MeshAxes>
struct varying_less<varying<Vs...>, MeshAxes> {
  using type = typename with_varying<sharding<>, difference_of<type_list<Vs...>, MeshAxes>>::type;
};

template <class Sharding, class MeshAxes>
struct not_varying_over;
template <class... Entries, class MeshAxes>
struct not_varying_over<sharding<Entries...>, MeshAxes> {
  using type = canonical_sharding<typename varying_less<Entries, MeshAxes>::type...>;
};

/// The sharding without {V} along these mesh axes.
template <class Sharding, class MeshAxes>
using invariant_over = typename not_varying_over<Sharding, MeshAxes>::type;

template <class Sharding, class A, class... Ms>
struct lift_axis;
template <class... Entries, class A, class... Ms>
struct lift_axis<sharding<Entries...>, A, Ms...> {
  using type = canonical_sharding<typename lifted_entry<Entries, A, Ms...>::type...>;
};

}  // namespace ostraka::detail
