// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What all ways of making a tensor share: which mesh, which extents, and the checks of both.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/detail/after_error.hpp>
#include <ostraka/plan/typed/checks.hpp>

namespace ostraka::detail {

// The tensor that `zeros<T, dims…>` names: T is an element type, or a tensor type and then without dims.
template <class T, auto... Dims>
struct named_tensor {
  using type = tensor<T, Dims...>;
};

template <Tensor T>
struct named_tensor<T> {
  using type = T;
};

// Which extents an argument gives. One that is written out has to be one of the tensor's, and is given once; an
// os::sizes, a tensor or a mesh may hold more than is asked for, and what others hold as well.
template <class Given>
struct given_extents {
  using written = type_list<>;
  using collected = type_list<>;
  template <class Axes>
  using verdict = reason::extent_without_a_name<Given>;
};

template <class Named>
struct given_extents<named_extent<Named>> {
  using written = type_list<Named>;
  using collected = type_list<>;
  template <class Axes>
  using verdict = std::conditional_t<(position_in<Named, Axes> < 0), reason::extent_of_foreign_axis<Named>, reason::ok>;
};

template <class Given>
  requires knows_extents<Given>
struct given_extents<Given> {
  using written = type_list<>;
  using collected = typename decltype(collection(std::declval<Given const&>()))::names;
  template <class Axes>
  using verdict = reason::ok;
};

template <class Names>
using given_twice = std::conditional_t<std::is_void_v<first_repeated<Names>>, reason::ok,
                                       reason::extent_given_twice<first_repeated<Names>>>;

template <class A, class Names>
using given_or_static = std::conditional_t<A::extent == dynamic_extent && (position_in<A, Names> < 0),
                                           reason::missing_extent<A>, reason::ok>;

template <class Axes, class Names>
struct all_extents_given;

template <class... As, class Names>
struct all_extents_given<type_list<As...>, Names> : first_fault<reason::ok, given_or_static<As, Names>...> {};

template <class NoMesh, class List>
struct unknown_on {
  using type = reason::mesh_comes_first<NoMesh>;
};

template <class... Ms, class... Used>
struct unknown_on<mesh<Ms...>, type_list<Used...>> {
  using strangers = difference_of<type_list<Used...>, type_list<Ms...>>;
  template <class List>
  struct verdict {
    using type = reason::ok;
  };
  template <class M, class... More>
  struct verdict<type_list<M, More...>> {
    using type = reason::unknown_mesh_axis<M, mesh<Ms...>>;
  };
  using type = typename verdict<strangers>::type;
};

template <class A, class Sizes>
std::int64_t checked_extent(Sizes const& given, char const* operation) {
  std::int64_t const n = required_extent<A>(given);
  if (A::extent != dynamic_extent && n != A::extent)
    throw error(std::string(operation) + ": the axis " + std::string(A::name) + " has the static extent " +
                std::to_string(A::extent) + ", but " + std::to_string(n) +
                " was given; leave it out or give that extent");
  if (n < 0)
    throw error(std::string(operation) + ": an extent is not negative, but " + std::string(A::name) + " = " +
                std::to_string(n) + " was given; give 0 for an empty axis");
  return n;
}

template <class... As, class Sizes>
auto checked_extents(type_list<As...>, Sizes const& given, [[maybe_unused]] char const* operation) {
  return std::array<std::int64_t, sizeof...(As)>{checked_extent<As>(given, operation)...};
}

// A partial tensor holds summands, not values.
template <class Partials, class Operation>
struct values_wanted {
  using type = reason::ok;
};

template <class X, class... Xs, class Operation>
struct values_wanted<type_list<X, Xs...>, Operation> {
  using type = reason::partial_in_nonlinear_operation<X, Operation>;
};

/// `reason::ok`, or why a tensor cannot be made on a mesh with these arguments.
template <class TensorType, class Mesh, class... Given>
struct creation_verdict {
  using axes = typename TensorType::axes;
  using names = concatenation_of<typename given_extents<Given>::written...,
                                 union_of<typename given_extents<Given>::collected...>>;
  using type =
      typename first_fault<typename sharding_traits<typename TensorType::sharding_type>::verdict,
                           writable_verdict<TensorType>,
                           element_verdict<typename TensorType::value_type, typename TensorType::sharding_type>,
                           typename unknown_on<Mesh, typename TensorType::mesh_axes>::type,
                           typename given_extents<Given>::template verdict<axes>..., given_twice<names>,
                           typename all_extents_given<axes, names>::type>::type;
};

/// A fresh tensor on the mesh, its elements not yet set. `Unless` is what else may be wrong.
template <class TensorType, class Unless = reason::ok, class Mesh, class... Given>
auto make_uninitialised(char const* operation, Mesh const& m, Given const&... given) {
  using verdict = typename first_fault<typename creation_verdict<TensorType, Mesh, Given...>::type, Unless>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>) {
    engine::require_not_ended(operation);
    return allocate<TensorType>(m.handle(),
                                checked_extents(typename TensorType::axes{}, collect_sizes(given...), operation));
  } else {
    return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                          typename TensorType::space>();
  }
}

/// What stands behind the extents, void if nothing does.
template <class... Arguments>
using last_of = typename type_at<type_list<void, Arguments...>, static_cast<int>(sizeof...(Arguments))>::type;

/// Is it an extent, or nothing, where a function or a view should be?
template <class T>
inline constexpr bool gives_extents = std::is_arithmetic_v<T> || is_named_extent<T> || knows_extents<T>;
template <>
inline constexpr bool gives_extents<void> = true;

/// Where dimensions are named without an element type.
template <class... Arguments>
auto element_type_missing() {
  reason::raise<reason::element_type_comes_first<Arguments...>>();
  return scalar_after_error<Arguments...>();
}

template <class TensorType, class Operation>
using wants_values =
    typename values_wanted<typename sharding_traits<typename TensorType::sharding_type>::partials, Operation>::type;

}  // namespace ostraka::detail
