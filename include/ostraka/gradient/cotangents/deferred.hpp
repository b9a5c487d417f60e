// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Gradients with other shardings than their parameters: leaf policies for
/// `os::value_and_grad<os::deferred_over<X>>(f)`. A gradient that stays partial over X is not reduced, so that the
/// gradients of several microbatches can be added first. A gradient that is divided over X is reduce-scattered as soon
/// as it is computed:
///
///     parameter    deferred_over<X>   gathered_and_deferred_over<X>                     divided_over<X>
///     [I, J]       [I, J] {U_X}       [I, J] {U_X}                                      [I_X, J]
///     [I_Y, J]     [I_Y, J] {U_X}     [I_Y, J] {U_X}                                    [I_Y, J_X]
///     [I_X, J]     [I_X, J]           [I, J] {U_X}, n times the memory for n devices    [I_X, J]
///     [I, J] {U_X} [I, J] {U_X}       [I, J] {U_X}                                      [I_X, J]

#include <type_traits>

#include <ostraka/gradient/tape/variables_in_trees.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/plan/typed/split_further.hpp>

namespace ostraka {

namespace detail {

template <class Sharding, class MeshAxes>
struct with_parts_over;
template <class Sharding>
struct with_parts_over<Sharding, type_list<>> {
  using type = Sharding;
};
template <class Sharding, class... Ms>
struct with_parts_over<Sharding, type_list<Ms...>> {
  using type = canonical_sharding<Sharding, partial_sum<Ms...>>;
};

// If a parameter is partial, its cotangents need not be.
template <class Sharding, class MeshAxes>
using deferred = typename with_parts_over<typename without_parts<Sharding>::type,
                                          difference_of<MeshAxes, typename sharding_traits<Sharding>::splits>>::type;

}  // namespace detail

/// Gradients that stay partial over these mesh axes. A gradient divided over one of them keeps its sharding, and
/// is reduced (by a reduce-scatter, as a rule) in every microbatch.
template <auto... Xs>
struct deferred_over {
  using mesh_axes = type_list<detail::type_of<Xs>...>;
  template <class T, class Sharding>
  using leaf = values::leaf<T, detail::deferred<Sharding, mesh_axes>>;
};

/// The same, also for parameters that are divided over these mesh axes: the gradient is whole until it is reduced.
template <auto... Xs>
struct gathered_and_deferred_over {
  using mesh_axes = type_list<detail::type_of<Xs>...>;
  template <class T, class Sharding>
  using leaf = values::leaf<T, detail::deferred<typename detail::gathered<Sharding, mesh_axes>::type, mesh_axes>>;
};

/// Gradients that are divided over these mesh axes, unless the parameter is. They are divided along the axis that
/// os::split_over<X> divides in the state of an optimiser, so that each device updates its part (ZeRO, stage 2). A
/// device keeps 1/n of them. The gradient of a microbatch is reduce-scattered as soon as the backward has computed it.
template <auto... Xs>
struct divided_over {
  template <class T, class Sharding>
  using leaf = values::leaf<
      T, typename detail::split_further<typename detail::without_parts<Sharding>::type, detail::type_of<Xs>...>::type>;
};

namespace detail {

/// The type of the cotangents of T for `How`: a leaf policy, the dimensions of a single tensor, or void for the
/// default.
template <class How, class T>
struct find_cotangent {
  using type =
      basic_tensor<typename T::value_type,
                   sharding_in<typename How::template leaf<typename T::value_type, sharding_in<T>>>, typename T::space>;
};
template <class T>
struct find_cotangent<void, T> {
  using type = cotangent_of<T>;
};
template <auto... Dims, class T>
struct find_cotangent<dims<Dims...>, T> {
  using type = basic_tensor<typename T::value_type, sharding_of<Dims...>, typename T::space>;
};
template <class How, class T, class Cotangent>
  requires(!std::is_void_v<How>)
struct find_cotangent<How, variable<T, Cotangent>> {
  using type = variable<typename find_cotangent<How, T>::type>;
};

template <class How, class T>
using cotangent_by = typename find_cotangent<How, T>::type;

template <class T, class Cotangent>
consteval auto check_cotangent() {
  if constexpr (std::is_same_v<axes_in<T>, axes_in<Cotangent>>)
    return found<reason::ok>{};
  else
    return found<reason::cotangent_of_other_axes<sharding_in<T>, sharding_in<Cotangent>>>{};
}

/// `reason::ok`, or the reason why cotangents of T cannot have this type.
template <class T, class Cotangent>
using cotangent_verdict = typename decltype(check_cotangent<T, Cotangent>())::type;

// The leaf policy of gradients, for parameters with the leaf policy `Leaves`.
template <class How, class Leaves>
struct cotangents_as {
  template <class T, class Sharding>
  using leaf = cotangent_by<How, typename Leaves::template leaf<T, Sharding>>;
};

template <class How, class Leaves>
struct gradient_leaves {
  using type = cotangents_as<How, Leaves>;
};
template <class Leaves>
struct gradient_leaves<void, Leaves> {
  using type = Leaves;
};
template <class How>
  requires(!std::is_void_v<How>)
struct gradient_leaves<How, values> {
  using type = How;
};

// The leaf policy of the variables that are differentiated.
template <class How, class Leaves>
struct variables_with {
  using inner = Leaves;
  static constexpr int derivatives = 1 + depth_of_leaves<Leaves>();
  template <class T, class Sharding>
  using leaf = variable<typename Leaves::template leaf<T, Sharding>,
                        cotangent_by<How, typename Leaves::template leaf<T, Sharding>>>;
};

template <class How, class Leaves>
struct differentiated_leaves {
  using type = variables_with<How, Leaves>;
};
template <class Leaves>
struct differentiated_leaves<void, Leaves> : variables_of_leaves<Leaves> {};

}  // namespace detail

}  // namespace ostraka
