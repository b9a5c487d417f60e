// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::shard_map<I/X, K>(f, A, B)`: f computes on each device's own blocks. A[I_X, J] enters the body as
/// float[I, J] {V_X}, an ordinary tensor of this device that varies along X; the results leave as tensors like A.
/// Nothing moves at the doors.
///
///     auto C = os::shard_map<I/X, K>([](auto a, auto b) { return os::psum<Y>(os::einsum<I, K>(a, b)); }, A, B);

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/calls/context.hpp>
#include <ostraka/local_view/doors.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/tensors/after_error.hpp>

namespace ostraka {

/// The mesh axes that a body handles itself: the value of `os::manual(X)`.
template <MeshAxis... Ms>
struct manual_axes {};

/// Goes first among the dimensions of os::shard_map: only these mesh axes are manual. Blocks stay divided over the
/// others, and operations in the body are planned over them.
template <MeshAxis... Ms>
consteval manual_axes<Ms...> manual(Ms...) {
  return {};
}

namespace detail {

// The contents of the angle brackets: the manual mesh axes, if they are named, and the results.
template <class... Named>
struct named_results {
  using results = type_list<canonical_sharding<Named...>>;
  static constexpr bool is_tuple = false;
};
template <auto... First, class... More>
struct named_results<dims<First...>, More...> {
  using results =
      type_list<typename dims_types<dims<First...>>::sharding_type, typename dims_types<More>::sharding_type...>;
  static constexpr bool is_tuple = true;
};

template <class Operands, class... Named>
struct body_of;
template <class... As, class... Named>
struct body_of<type_list<As...>, Named...> : named_results<Named...> {
  template <class... Outs>
  static auto mentioned(type_list<Outs...>) -> union_of<mesh_axes_in<As>..., mesh_axes_in<Outs>...>;
  using manual = decltype(mentioned(typename named_results<Named...>::results{}));
};
template <class... As, class... Ms, class... Named>
struct body_of<type_list<As...>, manual_axes<Ms...>, Named...> : named_results<Named...> {
  using manual = type_list<Ms...>;
};

// The tensors of an operand, which is a tensor, a tree of tensors (tree/in_bodies.hpp), or a std::array, std::tuple or
// std::pair of operands. `found`: T is an operand.
template <class T>
struct tensors_in {
  using type = type_list<>;
  static constexpr bool found = false;
};
template <Tensor A>
struct tensors_in<A> {
  using type = type_list<A>;
  static constexpr bool found = true;
};
template <class A>
  requires any_stand_in<A>
struct tensors_in<A> : tensors_in<typename A::tensor_type> {};
template <class A, std::size_t N>
  requires(N > 0)
struct tensors_in<std::array<A, N>> : tensors_in<A> {};
template <class... As>
struct tensors_in<std::tuple<As...>> {
  using type = concatenation_of<typename tensors_in<As>::type...>;
  static constexpr bool found = (tensors_in<As>::found && ...);
};
template <class A, class B>
struct tensors_in<std::pair<A, B>> : tensors_in<std::tuple<A, B>> {};

template <class A>
inline constexpr bool is_tree_operand = false;
template <class A>
  requires requires { typename tensors_in<A>::tree; }
inline constexpr bool is_tree_operand<A> = std::is_same_v<A, typename tensors_in<A>::tree>;

// Enters all tensors of an operand: returns the same with blocks.
template <class Manual, class A>
auto enter_all(char const* operation, A const& a) {
  if constexpr (TensorOrVariable<A>)
    return ostraka::operation::enter_body<Manual>{{}, operation}(a);
  else if constexpr (is_tree_operand<A>)
    return tensors_in<A>::template enter<Manual>(operation, a);
  else
    return std::apply(
        [&](auto const&... each) {
          if constexpr (requires { typename A::first_type; })
            return std::pair{enter_all<Manual>(operation, each)...};
          else if constexpr (requires { typename A::value_type; })
            return std::array<decltype(enter_all<Manual>(operation, a[0])), sizeof...(each)>{
                enter_all<Manual>(operation, each)...};
          else
            return std::tuple<decltype(enter_all<Manual>(operation, each))...>{enter_all<Manual>(operation, each)...};
        },
        a);
}

// The tensor for which an operand stands in; for any other type, the type itself.
template <class T>
struct tensor_returned {
  using type = T;
};
template <class T>
  requires any_stand_in<T>
struct tensor_returned<T> : tensor_returned<typename T::tensor_type> {};

// The returned types as a list.
template <class Returned>
struct returned_list {
  using type = type_list<typename tensor_returned<Returned>::type>;
};
template <class... Rs>
struct returned_list<std::tuple<Rs...>> {
  using type = type_list<typename tensor_returned<Rs>::type...>;
};
template <class A, class B>
struct returned_list<std::pair<A, B>> : returned_list<std::tuple<A, B>> {};

template <class Returned, class Out, class Manual, class Kept>
consteval auto check_returned() {
  if constexpr (is_pending<Returned>)
    return found<reason::pending_value_leaves<Returned>>{};
  else if constexpr (!Tensor<Returned>)
    return found<reason::result_is_not_a_tensor<Returned>>{};
  else
    return found<leave_verdict<sharding_in<Returned>, Out, Manual, Kept>>{};
}

template <class Manual, class Kept, class... Returned, class... Outs>
consteval auto check_results(type_list<Returned...>, type_list<Outs...>) {
  if constexpr (sizeof...(Returned) != sizeof...(Outs))
    return found<
        reason::wrong_number_of_results<static_cast<int>(sizeof...(Returned)), static_cast<int>(sizeof...(Outs))>>{};
  else
    return found<first_fault<typename decltype(check_returned<Returned, Outs, Manual, Kept>())::type...>>{};
}

template <class Manual, class Kept, class... Outs, class Returned>
auto leave_all(type_list<Outs...>, Returned const& returned) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    return std::tuple{ostraka::operation::leave_body<Outs, Manual, Kept>{}(std::get<Is>(returned))...};
  }(std::index_sequence_for<Outs...>{});
}

template <class Results>
struct result_after_error;
template <class... Outs>
struct result_after_error<type_list<Outs...>> {
  using all = std::tuple<after_error_of<float, Outs>...>;
  using first = std::tuple_element_t<0, all>;
};

// Takes the place of the results after an error.
template <class Body>
auto refused_results() {
  using harmless = result_after_error<typename Body::results>;
  return std::conditional_t<Body::is_tuple, typename harmless::all, typename harmless::first>{};
}

// True if an operation in the body has already raised an error.
template <class Returned>
inline constexpr bool is_returned_after_error = false;
template <class... Rs>
inline constexpr bool is_returned_after_error<type_list<Rs...>> = (is_after_error<Rs> || ...);

template <class Body, class Kept, class Returned>
auto results_of(Returned const& returned) {
  using results = typename Body::results;
  using manual = typename Body::manual;
  using list = typename returned_list<Returned>::type;
  if constexpr (is_returned_after_error<list>) {
    return refused_results<Body>();
  } else if constexpr (reason::ok_or_raise<typename decltype(check_results<manual, Kept>(list{}, results{}))::type>()) {
    constexpr bool is_one = Tensor<typename tensor_returned<Returned>::type>;
    if constexpr (Body::is_tuple && !is_one)
      return leave_all<manual, Kept>(results{}, returned);
    else if constexpr (Body::is_tuple)
      return std::tuple{ostraka::operation::leave_body<typename type_at<results, 0>::type, manual, Kept>{}(returned)};
    else
      return ostraka::operation::leave_body<typename type_at<results, 0>::type, manual, Kept>{}(returned);
  } else {
    return refused_results<Body>();
  }
}

// True if a parameter of this type takes the block. Tensors of other types have conversions too, but only to raise an
// error.
template <class Parameter, class Block>
inline constexpr bool takes_block = !is_other_tensor<Block, std::remove_cvref_t<Parameter>>;

// The same for the parameters of a body that names their types. Nothing is known about a body that does not.
template <class Call, class... Blocks>
inline constexpr bool parameters_take = true;
template <class R, class F, class... Ps, class... Blocks>
  requires(sizeof...(Ps) == sizeof...(Blocks))
inline constexpr bool parameters_take<R (F::*)(Ps...) const, Blocks...> = (takes_block<Ps, Blocks> && ...);

template <class F, class... Blocks>
consteval bool body_takes() {
  if constexpr (requires { &F::operator(); }) {
    if constexpr (!parameters_take<decltype(&F::operator()), Blocks...>) return false;
  }
  return requires(F const& f, Blocks const&... blocks) { f(blocks...); };
}

template <class F, class... Blocks>
consteval auto check_body() {
  if constexpr (!body_takes<F, Blocks...>())
    return found<reason::body_does_not_take_blocks<F, Blocks...>>{};
  else if constexpr (std::is_void_v<std::invoke_result_t<F const&, Blocks...>>)
    return found<reason::result_is_not_a_tensor<void>>{};
  else
    return found<reason::ok>{};
}

// Checks the shardings of the operands by themselves, then whether they can enter the body.
template <class Body, class... As>
consteval auto check_operands(type_list<As...>) {
  return found<first_fault<typename sharding_traits<sharding_in<As>>::verdict...,
                           enter_verdict<sharding_in<As>, typename Body::manual>...>>{};
}

// The mesh axes along which operands vary already, because this body is inside another one.
template <class... As>
consteval auto varying_in_any(type_list<As...>) {
  return union_of<varying_in<As>...>{};
}

// `operation` is the name of the operation that the program called.
template <class Body, class F, class... As>
auto run_body([[maybe_unused]] char const* operation, [[maybe_unused]] F const& f, [[maybe_unused]] As const&... as) {
  using manual = typename Body::manual;
  using operands = concatenation_of<typename tensors_in<As>::type...>;
  if constexpr (reason::ok_or_raise<typename decltype(check_operands<Body>(operands{}))::type>()) {
    using taken = typename decltype(check_body<F, decltype(enter_all<manual>("", as))...>())::type;
    if constexpr (reason::ok_or_raise<taken>())
      return results_of<Body, decltype(varying_in_any(operands{}))>(f(enter_all<manual>(operation, as)...));
    else
      return refused_results<Body>();
  } else {
    return refused_results<Body>();
  }
}

template <class T, bool IsOne>
using needs_tensor = std::conditional_t<IsOne, reason::ok, reason::operand_is_not_a_tensor<T>>;

template <class Given, class Wanted>
consteval auto check_in() {
  using own = same_axes_verdict<sharding_in<Given>, Wanted>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (std::is_same_v<sharding_in<Given>, Wanted>) {
    return found<reason::ok>{};
  } else {
    using types = reshard_types<Given, Wanted>;
    constexpr std::int64_t bytes = planner::bytes_per_device(types::plan.elements_moved(types::plan.sizes),
                                                             element_bytes_in<Given>, types::plan.sizes);
    return found<reason::body_wants_another_sharding<sharding_in<Given>, Wanted, bytes>>{};
  }
}

}  // namespace detail

/// Calls `f` with each device's blocks of the tensors, and returns the tensors of which its results are blocks. `Named`
/// holds the dimensions of the result, or os::dims<…>{} for each of several results, which are returned as a
/// std::tuple. os::manual(X) may come before them; without it all mesh axes that operands and results name are manual.
///
/// An operand is a tensor, a tree (tree.hpp), or a std::array, std::tuple or std::pair of operands, such as the weights
/// of all layers. The body gets the same with blocks.
///
/// In the body `I/X, J` is `I, J, os::varying(X)`, with extents of its own. So is a partial tensor, of which the block
/// is a part. A tensor that does not name X is the same along it. A result that does not name X must be the same along
/// it; only collectives (os::psum<X>, os::all_gather<I/X>, …) make it so. A result that names X consists of the blocks
/// of all devices, concatenated along an axis or as summands. Entering and leaving a body moves nothing. All devices of
/// the mesh call the same collectives in the same order.
/// @throws ostraka::error, on all devices alike, if blocks of uneven extents do not fit the result
template <auto... Named, class F, class... As>
  requires(!Tensor<F> && sizeof...(As) > 0 && (detail::tensors_in<As>::found && ...))
auto shard_map(F const& f, As const&... as) {
  return detail::run_body<
      detail::body_of<concatenation_of<typename detail::tensors_in<As>::type...>, detail::type_of<Named>...>>(
      "shard_map", f, as...);
}

/// Does not compile: the error says which argument is not a tensor, that the first one is not a body, or that there are
/// no tensors.
template <auto... Named, class F, class... As>
  requires(Tensor<F> || sizeof...(As) == 0 || !(detail::tensors_in<As>::found && ...))
auto shard_map(F const&, As const&...) {
  reason::raise<detail::first_fault<detail::needs_tensor<F, !Tensor<F>>, detail::needs_tensor<void, sizeof...(As) != 0>,
                                    detail::needs_tensor<As, detail::tensors_in<As>::found>...>>();
  return detail::refused_results<detail::body_of<type_list<>, detail::type_of<Named>...>>();
}

/// The tensor itself; does not compile unless its sharding is this one, including the order of mesh axes. For operands
/// of a body that takes `auto`: `os::shard_map<I/X, K>(f, os::in<I/X, J/Y>(A), B)`.
template <auto... Dims, TensorOrVariable A>
[[nodiscard]] decltype(auto) in(A const& a) {
  using wanted = sharding_of<Dims...>;
  if constexpr (reason::ok_or_raise<typename decltype(detail::check_in<A, wanted>())::type>())
    return (a);
  else
    return detail::after_error_of<typename A::value_type, wanted, typename A::space>();
}

}  // namespace ostraka
