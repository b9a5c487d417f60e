// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The state of an optimiser: trees of the parameters' struct and the number of steps, in a struct that is
/// itself a tree. So it can be mapped, described and saved like parameters. Its leaves have the parameters' shardings,
/// or are divided further:
///
///     w [I, J]      state of w, by default     [I, J]
///                   os::split_over<X>          [I_X, J]      each device along X updates its part (ZeRO, stage 1)
///     w [I_X, J]    os::split_over<X>          [I_X, J]      already divided over X
///
/// Elements have the type in which the library keeps sums. The state of 16-bit parameters is float, because 0.999 v +
/// 0.001 g² would not change a v with an 8-bit significand.

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/typed/split_further.hpp>
#include <ostraka/tree/walk.hpp>
#include <ostraka/types/reasons/of_training.hpp>
#include <ostraka/types/reasons/operation_names.hpp>

namespace ostraka {

namespace detail {

template <class... Xs>
struct split_state_over {
  template <class Sharding>
  using sharding = typename split_further<Sharding, Xs...>::type;
};

/// The leaf of the state for a parameter of this type.
template <class Parameter, class Split>
using state_tensor = basic_tensor<accumulator_of_t<typename Parameter::value_type>,
                                  typename Split::template sharding<sharding_in<Parameter>>, typename Parameter::space>;

}  // namespace detail

/// Divides the state of an optimiser over these mesh axes, unless the parameter is divided over them already:
/// `opt.init(params, os::split_over<X>)`. Divides a leaf's longest axis by static extent or hint, else the first one.
template <auto... Xs>
inline constexpr detail::split_state_over<detail::type_of<Xs>...> split_over{};

/// The leaf policy of an optimiser's state, for parameters with the leaf policy `Parameters`.
template <class Parameters, class Split>
struct state_beside {
  template <class T, class Sharding>
  using leaf = std::conditional_t<std::is_integral_v<T>,
                                  basic_tensor<T, Sharding, typename Parameters::template leaf<float, Sharding>::space>,
                                  detail::state_tensor<typename Parameters::template leaf<T, Sharding>, Split>>;
};

namespace detail {

// A single tensor is a tree of one leaf without a path.
template <class P>
struct parameters_traits {
  using shape = shape_of<P>;
  using leaves = leaves_in<P>;
};
template <class T, class Sharding, class Space>
struct parameters_traits<basic_tensor<T, Sharding, Space>> {
  using shape = leaf_name<std::remove_const_t<T>, Sharding>;
  using leaves = values_of<std::remove_const_t<T>, Space>;
};

template <class Shape, class L>
struct filled {
  using type = tree_with<Shape, L>;
};
template <class T, class Sharding, class L>
struct filled<leaf_name<T, Sharding>, L> {
  using type = typename L::template leaf<T, Sharding>;
};

/// A tree of this shape, or a single leaf, with the leaf policy L.
template <class Shape, class L>
using filled_with = typename filled<Shape, L>::type;

/// The state of an optimiser `State` for parameters P.
template <template <class, class> class State, class P, class Split>
using state_for =
    State<state_beside<typename parameters_traits<P>::leaves, Split>, typename parameters_traits<P>::shape>;

template <class P>
consteval auto check_parameter() {
  if constexpr (sharding_traits<sharding_in<P>>::partials::size > 0)
    return found<reason::parameter_is_partial<sharding_in<P>>>{};
  else
    return found<no_block_verdict<P, operation::update>>{};
}

/// `reason::ok`, or the reason why an optimiser cannot have such a parameter.
template <class P>
using parameter_verdict = typename decltype(check_parameter<P>())::type;

struct zeros_beside {
  template <class Out, class P>
  static Out make(P const& p) {
    reason::raise<parameter_verdict<P>>();
    common_mesh("init", p);
    Out state = allocate<Out>(p.mesh_handle(), p.extents());
    fill_block("init", state, typename Out::value_type(0));
    return state;
  }
};

template <class L>
struct make_zeros_beside {
  template <class P>
  auto operator()(path const&, P const& p) const {
    return zeros_beside::make<typename L::template leaf<typename P::value_type, sharding_in<P>>>(p);
  }
};

// Makes zeros with the parameters' declared element types and shardings, from which L makes the leaves.
template <class Shape, class L, class P>
filled_with<Shape, L> zeros_of_state(P const& parameters) {
  if constexpr (Tensor<P>) {
    return zeros_beside::make<filled_with<Shape, L>>(parameters);
  } else {
    make_zeros_beside<L> make;
    return make_node<Shape, filled_with<Shape, L>>(make, path{}, parameters);
  }
}

/// The number of steps as a tensor: 0, on the mesh of the first leaf.
template <class Steps, class P>
Steps no_steps(P const& parameters) {
  Steps steps;
  auto make = [&]<class Leaf>(path const&, Leaf const& p) {
    reason::raise<parameter_verdict<Leaf>>();
    if (steps.mesh_handle() == nullptr) steps = allocate<Steps>(common_mesh("init", p), {});
  };
  if constexpr (Tensor<P>)
    make(path{}, parameters);
  else
    visit<typename parameters_traits<P>::shape>(make, path{}, parameters);
  if (steps.mesh_handle() == nullptr)
    throw_error(
        "init: the state lives on the mesh of the parameters, but these have no leaf; make the parameters first");
  fill_block("init", steps, typename Steps::value_type(0));
  return steps;
}

template <class Steps>
std::int64_t number_of_steps(char const* optimizer, Steps const& steps) {
  return common_mesh(optimizer, steps)->absent() ? 0 : engine::read_on_host(steps.local());
}

}  // namespace detail

}  // namespace ostraka
