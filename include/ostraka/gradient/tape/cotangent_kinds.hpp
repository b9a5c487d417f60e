// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Cotangents in the body of os::shard_map. Along a mesh axis X a variable has one of three kinds, which the
/// types of its value and its cotangent determine:
///
///     kind         value       cotangent    so that
///     varying      varies      varies       each device has its own
///     replicated   is the same varies       cotangents are summands of the whole one
///     invariant    is the same is the same  each device has the whole cotangent
///
/// The result of a pullback on a varying cotangent varies. If the operand is invariant, the result is summed over X
/// (the transpose of the pvary that let the operand meet a varying one); if the operand is replicated, it is not.

#include <type_traits>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/gradient/tape/variable.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/local_view/collectives/psum.hpp>
#include <ostraka/local_view/pvary.hpp>

namespace ostraka {

namespace detail {

template <class Cotangent, class MeshAxes>
struct varying_cotangent;
template <class T, class Sharding, class Space, class MeshAxes>
struct varying_cotangent<basic_tensor<T, Sharding, Space>, MeshAxes> {
  using invariant = invariant_over<Sharding, varying_in<Sharding>>;
  using type = basic_tensor<T, typename with_varying<invariant, MeshAxes>::type, Space>;
};
template <class T, class Cotangent, class MeshAxes>
struct varying_cotangent<variable<T, Cotangent>, MeshAxes> {
  using type = variable<typename varying_cotangent<T, MeshAxes>::type,
                        typename varying_cotangent<Cotangent, MeshAxes>::type>;
};

/// Cotangents of this type that vary along exactly these mesh axes.
template <class Cotangent, class MeshAxes>
using cotangent_along =
    typename std::conditional_t<std::is_same_v<varying_in<Cotangent>, MeshAxes>, std::type_identity<Cotangent>,
                                varying_cotangent<Cotangent, MeshAxes>>::type;

// The mesh axes along which the cotangents of an operand vary.
template <class T>
struct varying_of_cotangent {
  using type = type_list<>;
};
template <class T, class Cotangent>
struct varying_of_cotangent<variable<T, Cotangent>> {
  using type = varying_in<Cotangent>;
};

// The mesh axes that a rule adds and removes for the cotangents of its result: they vary along `varies_along`, and do
// not vary along `invariant_along`.
template <class Rule>
struct added_by_rule {
  using type = type_list<>;
};
template <class Rule>
  requires requires { typename Rule::varies_along; }
struct added_by_rule<Rule> {
  using type = typename Rule::varies_along;
};
template <class Rule>
struct removed_by_rule {
  using type = type_list<>;
};
template <class Rule>
  requires requires { typename Rule::invariant_along; }
struct removed_by_rule<Rule> {
  using type = typename Rule::invariant_along;
};

// A rule whose result is the same tensor in another form passes on the type of its operand's cotangents,
// `Rule::operand_cotangent<Result, Operand>`, as a reshard does.
template <class Rule, class Result, class... Operands>
struct operand_cotangent_by_rule {
  using type = cotangent_of<Result>;
};
template <class Rule, class Result, class Operand>
  requires requires { typename Rule::template operand_cotangent<Result, Operand>; }
struct operand_cotangent_by_rule<Rule, Result, Operand> {
  using type = typename Rule::template operand_cotangent<Result, Operand>;
};

// A policy after the operand is not an operand.
template <class Rule, class Result, class Operand, class Policy>
  requires(
      requires { typename Rule::template operand_cotangent<Result, Operand>; } &&
      !requires { typename Policy::sharding_type; })
struct operand_cotangent_by_rule<Rule, Result, Operand, Policy> {
  using type = typename Rule::template operand_cotangent<Result, Operand>;
};

template <class Rule, class Result, class... Operands>
inline constexpr bool has_operand_cotangent = false;
template <class Rule, class Result, class Operand>
  requires requires { typename Rule::template operand_cotangent<Result, Operand>; }
inline constexpr bool has_operand_cotangent<Rule, Result, Operand> = true;

/// The default type of a result's cotangents: they vary along the mesh axes along which the result, or the cotangents
/// of an operand, vary.
template <class Rule, class Result, class... Operands>
using cotangent_of_result =
    cotangent_along<typename operand_cotangent_by_rule<Rule, Result, Operands...>::type,
                    union_of<varying_in<cotangent_of<Result>>, typename added_by_rule<Rule>::type,
                             difference_of<union_of<typename varying_of_cotangent<Operands>::type...>,
                                           typename removed_by_rule<Rule>::type>>>;

}  // namespace detail

namespace operation {

/// The block of one device along `Ms`, zeros on the others: the result varies.
template <class... Ms>
struct keep_on : detail::internal_step<keep_on<Ms...>> {
  static constexpr char const* name = "keep_on";
  int device = 0;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    using kept = typename detail::with_varying<sharding_in<A>, type_list<Ms...>>::type;
    using block = basic_tensor<typename A::value_type, kept, typename A::space>;
    if (detail::group_of<A, Ms...>("keep_on", a).number == device) return block(a);
    detail::extent_origins<A::rank> origins{};
    if constexpr (varying_in<A>::size > 0) origins = a.origins();
    auto const zero = detail::make_block_like<block>(a, a.extents(), origins);
    detail::fill_block("keep_on", zero, typename A::value_type(0));
    return zero;
  }
};

}  // namespace operation

namespace detail {

/// Converts a cotangent to the type of an operand's cotangents. The operand's value varies along `ValueVaries`. Sums
/// the cotangent over the mesh axes along which only it varies. A cotangent that does not vary is the whole one: for a
/// varying value each device takes it, for a replicated value only the first device keeps it.
template <class Cotangent, class ValueVaries, class G>
Cotangent settled(G const& g) {
  using too_much = difference_of<varying_in<G>, varying_in<Cotangent>>;
  using lacking = difference_of<varying_in<Cotangent>, varying_in<G>>;
  using replicated = difference_of<lacking, ValueVaries>;
  if constexpr (too_much::size > 0)
    return settled<Cotangent, ValueVaries>([&]<class... Ms>(type_list<Ms...>) {
      return ostraka::operation::combine_blocks<reduction::sum, Ms...>{}(g);
    }(too_much{}));
  else if constexpr (replicated::size > 0)
    return settled<Cotangent, ValueVaries>([&]<class... Ms>(type_list<Ms...>) {
      return ostraka::operation::keep_on<Ms...>{}(g);
    }(replicated{}));
  else if constexpr (lacking::size > 0)
    return [&]<class... Ms>(type_list<Ms...>) { return ostraka::pvary<Ms{}...>(g); }(lacking{});
  else
    return g;
}

}  // namespace detail

}  // namespace ostraka
