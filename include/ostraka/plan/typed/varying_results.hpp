// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The results of operations on blocks. They vary along the mesh axes along which an operand does, and a
/// tensor that is divided over a mesh axis cannot be combined with a block that varies along it.

#include <type_traits>

#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/shardings/halo.hpp>

namespace ostraka {

namespace detail {

template <class Sharding, class Varying>
struct with_varying {
  using type = Sharding;
};
template <class... Entries, class M, class... Ms>
struct with_varying<sharding<Entries...>, type_list<M, Ms...>> {
  using type = canonical_sharding<Entries..., varying<M, Ms...>>;
};

/// True if one of the operands varies.
template <class... Operands>
inline constexpr bool any_varies = ((varying_in<Operands>::size > 0) || ...);

}  // namespace detail

/// The sharding of a result, which varies along the mesh axes along which one of these operands does.
template <class Sharding, class... Operands>
using varying_as = typename detail::with_varying<Sharding, union_of<varying_in<Operands>...>>::type;

namespace detail {

// The same for arguments, some of which may not be tensors, by mistake.
template <class T>
struct varying_in_argument {
  using type = type_list<>;
};
template <class T>
  requires requires { typename T::sharding_type; }
struct varying_in_argument<T> {
  using type = varying_in<T>;
};

template <class Sharding, class Arguments>
struct varying_as_arguments;
template <class Sharding, class... Arguments>
struct varying_as_arguments<Sharding, type_list<Arguments...>>
    : with_varying<Sharding, union_of<typename varying_in_argument<Arguments>::type...>> {};

template <class Sharding, class Arguments>
using varying_as_list = typename varying_as_arguments<Sharding, Arguments>::type;
template <class Sharding, class Argument>
using varying_as_one = typename with_varying<Sharding, typename varying_in_argument<Argument>::type>::type;

template <class List, class Among>
using common_of = difference_of<List, difference_of<List, Among>>;

template <class X, class... Operands>
struct first_that_varies;
template <class X, class First, class... Rest>
struct first_that_varies<X, First, Rest...> {
  using type = typename std::conditional_t<(position_in<X, varying_in<First>> >= 0), std::type_identity<First>,
                                           first_that_varies<X, Rest...>>::type;
};
template <class X>
struct first_that_varies<X> {
  using type = sharding<>;
};

// `reason::ok` unless `One` is divided or partial along a mesh axis along which one of `Operands` varies.
template <class One, class... Operands>
consteval auto check_meets_blocks() {
  using common = common_of<mesh_axes_in<One>, union_of<varying_in<Operands>...>>;
  if constexpr (common::size == 0) {
    return found<reason::ok>{};
  } else {
    using X = typename type_at<common, 0>::type;
    return found<reason::divided_tensor_meets_block<X, sharding_in<One>,
                                                    sharding_in<typename first_that_varies<X, Operands...>::type>>>{};
  }
}

// True if one of the operands has a padded axis.
template <class... Operands>
inline constexpr bool any_padded = ((padded_axes<axes_in<Operands>> > 0) || ...);

template <class Operand, class... Rest>
struct first_padded : first_padded<Rest...> {};
template <class Operand, class... Rest>
  requires(padded_axes<axes_in<Operand>> > 0)
struct first_padded<Operand, Rest...> {
  using type = reason::halo_meets_operation<typename first_halo<axes_in<Operand>>::type, sharding_in<Operand>>;
};

template <class Out, class... Operands>
consteval auto check_blocks() {
  if constexpr (any_padded<Operands...>) {
    return found<typename first_padded<Operands...>::type>{};
  } else if constexpr (!any_varies<Operands...>) {
    return found<reason::ok>{};
  } else {
    using named = common_of<mesh_axes_in<Out>, union_of<varying_in<Operands>...>>;
    using met = first_fault<typename decltype(check_meets_blocks<Operands, Operands...>())::type...>;
    if constexpr (!std::is_same_v<met, reason::ok>)
      return found<met>{};
    else if constexpr (named::size > 0)
      return found<reason::manual_axis_divides_result<typename type_at<named, 0>::type, sharding_in<Out>>>{};
    else
      return found<reason::ok>{};
  }
}

// `reason::ok` if the operands may be combined in the body of os::shard_map, and the result names no mesh axis along
// which they vary.
template <class Out, class... Operands>
using blocks_verdict = typename decltype(check_blocks<Out, Operands...>())::type;

template <class Target, class... Operands>
consteval auto check_target() {
  using more = difference_of<union_of<varying_in<Operands>...>, varying_in<Target>>;
  if constexpr (more::size > 0)
    return found<reason::target_does_not_vary<typename type_at<more, 0>::type, sharding_in<Target>>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if a value that varies as the operands do may be written to the target.
template <class Target, class... Operands>
using target_verdict = typename decltype(check_target<Target, Operands...>())::type;

template <class A, class Operation>
consteval auto check_no_block() {
  if constexpr (varying_in<A>::size > 0)
    return found<reason::block_is_not_a_tensor<typename type_at<varying_in<A>, 0>::type, Operation>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if `A` is not a block. For operations of the global view only.
template <class A, class Operation>
using no_block_verdict = typename decltype(check_no_block<A, Operation>())::type;

}  // namespace detail

}  // namespace ostraka
