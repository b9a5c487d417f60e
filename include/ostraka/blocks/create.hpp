// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Shared by all functions that make a tensor: mesh, extents, and the checks of both.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/tensors/allocate.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

// The tensor that `zeros<T, dims…>` names. T is an element type, or a tensor type and then without dims.
template <class T, auto... Dims>
struct named_tensor {
  using type = tensor<T, Dims...>;
};

template <Tensor T>
struct named_tensor<T> {
  using type = T;
};

// The argument if it gives extents; an empty os::sizes in place of an option. As a value, and below as a type.
template <bool IsOption, class Given>
constexpr decltype(auto) extents_beside(Given const& given) {
  if constexpr (IsOption)
    return sizes<>();
  else
    return (given);
}
template <bool IsOption, class Given>
using given_beside = std::conditional_t<IsOption, sizes<>, Given>;

// The last argument of this type, else `found`.
template <class Option, class... Given>
constexpr Option option_among(Option found, [[maybe_unused]] Given const&... given) {
  [[maybe_unused]] auto const look = [&](auto const& one) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, Option>) found = one;
  };
  (look(given), ...);
  return found;
}

// The extents that an argument gives. An extent that is written out has to be of an axis of the tensor, and is given
// once. An os::sizes, a tensor or a mesh may hold further extents, and extents that other arguments hold as well.
template <class Given>
struct given_extents {
  using written = type_list<>;
  using collected = type_list<>;
};

template <class Named>
struct given_extents<named_extent<Named>> {
  using written = type_list<Named>;
  using collected = type_list<>;
};

template <class Named, class Extent>
struct given_extents<named_own_extent<Named, Extent>> : given_extents<named_extent<Named>> {};

template <class Given>
  requires knows_extents<Given>
struct given_extents<Given> {
  using written = type_list<>;
  using collected = typename decltype(collection(std::declval<Given const&>()))::names;
};

template <class Axes, class Given>
consteval auto check_given() {
  using named = typename given_extents<Given>::written;
  if constexpr (!is_named_extent<Given> && !knows_extents<Given>)
    return found<reason::extent_without_a_name<Given>>{};
  else if constexpr (difference_of<named, Axes>::size > 0)
    return found<reason::extent_of_foreign_axis<typename type_at<named, 0>::type>>{};
  else
    return found<reason::ok>{};
}

// A block needs its extent even if that is static: the axis may have been divided.
template <bool IsBlock, class A, class Names>
consteval auto check_axis_given() {
  if constexpr ((A::extent == dynamic_extent || IsBlock) && position_in<A, Names> < 0)
    return found<reason::missing_extent<A>>{};
  else
    return found<reason::ok>{};
}

template <bool IsBlock, class... Axes, class... Given>
consteval auto check_extents_given(type_list<Axes...>, type_list<Given...>) {
  using names = concatenation_of<typename given_extents<Given>::written...,
                                 union_of<typename given_extents<Given>::collected...>>;
  using each = first_fault<typename decltype(check_given<type_list<Axes...>, Given>())::type...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (!std::is_void_v<first_repeated<names>>)
    return found<reason::extent_given_twice<first_repeated<names>>>{};
  else
    return found<first_fault<typename decltype(check_axis_given<IsBlock, Axes, names>())::type...>>{};
}

template <class>
struct axes_of_mesh;

template <class... Ms>
struct axes_of_mesh<tensor_mesh<Ms...>> {
  using type = type_list<Ms...>;
};
template <class... Ms>
struct axes_of_mesh<mesh<Ms...>> {
  using type = type_list<Ms...>;
};

template <class Mesh, class Used>
consteval auto check_mesh() {
  if constexpr (!requires { typename axes_of_mesh<Mesh>::type; }) {
    return found<reason::mesh_comes_first<Mesh>>{};
  } else {
    using unknown = difference_of<Used, typename axes_of_mesh<Mesh>::type>;
    if constexpr (unknown::size > 0)
      return found<reason::unknown_mesh_axis<typename type_at<unknown, 0>::type, Mesh>>{};
    else
      return found<reason::ok>{};
  }
}

// `reason::ok` if it is a mesh that has these mesh axes.
template <class Mesh, class Used>
using mesh_verdict = typename decltype(check_mesh<Mesh, Used>())::type;

// Returns the extent n of an axis; throws unless it is `only`, or `only` is dynamic.
[[gnu::cold, gnu::noinline]] constexpr std::int64_t checked_extent(std::int64_t n, std::int64_t only,
                                                                   std::string_view axis, char const* operation) {
  if (only != dynamic_extent && n != only)
    throw_error(operation, ": the axis ", axis, " has the static extent ", only, ", but ", n,
                " was given; leave it out or give that extent");
  if (n < 0)
    throw_error(operation, ": an extent is not negative, but ", axis, " = ", n, " was given; give 0 for an empty axis");
  return n;
}

template <bool IsBlock, class A, class Sizes>
constexpr std::int64_t checked_extent(Sizes const& given, char const* operation) {
  return checked_extent(required_extent<A>(given), IsBlock ? dynamic_extent : A::extent, A::name, operation);
}

template <class TensorType, class... As, class Sizes>
auto checked_extents(type_list<As...>, Sizes const& given, [[maybe_unused]] char const* operation) {
  return std::array<std::int64_t, sizeof...(As)>{
      checked_extent<(varying_in<TensorType>::size > 0), As>(given, operation)...};
}

// Sets the origin of A's extent if this argument gives the extent and knows its origin.
template <class A, class Given>
constexpr void find_origin(extent_origin& found, [[maybe_unused]] Given const& given) {
  if constexpr (requires { given.own; }) {
    if constexpr (position_in<A, typename given_extents<Given>::written> >= 0) found = given.own.origin();
  } else if constexpr (is_tensor<Given>) {
    if constexpr (position_in<A, axes_in<Given>> >= 0) found = origin_in<A>(given);
  }
}

// True if the argument knows the origins of its extents.
template <class Given>
inline constexpr bool knows_origins = requires(Given const& given) { given.own; };
template <class T, class Sharding, class Space>
inline constexpr bool knows_origins<basic_tensor<T, Sharding, Space>> = varying_in<Sharding>::size > 0;

// Throws unless extents differ only along mesh axes along which the tensor varies.
inline void require_origin(char const* operation, std::string_view axis, extent_origin const& o,
                           std::uint32_t varying) {
  bool fits = o.is_alike() || (o.whole == extent_origin::of_its_own && varying != 0);
  if (!fits && o.whole >= 0) {
    fits = true;
    for (int k = 0; k < o.over.size(); ++k) fits = fits && (varying >> o.over[k] & 1u) != 0;
  }
  if (!fits)
    throw_error(operation,
                ": the extent of an axis is the same along mesh axes along which the tensor does not vary, but ", axis,
                " was given that of a block that was divided unevenly; add os::varying(X) to what is made, or give one "
                "number");
}

// Sets the origins of extents: the same on all devices, unless they are those of another block.
template <class TensorType, class... As, class... Ms, class... Given>
void set_given_origins([[maybe_unused]] char const* operation, TensorType& t, type_list<As...>, type_list<Ms...>,
                       [[maybe_unused]] Given const&... given) {
  if constexpr ((knows_origins<Given> || ...)) {
    auto const origin = [&]<class A>(A) {
      extent_origin found;
      (find_origin<A>(found, given), ...);
      require_origin(operation, A::name, found, ((1u << t.mesh_handle()->find(Ms::name)) | ... | 0u));
      return found;
    };
    extent_origins<TensorType::rank> const found{origin(As{})...};
    if constexpr (sizeof...(Ms) > 0) t.set_origins(found);
  }
}

template <class TensorType, class Operation>
consteval auto check_values() {
  using partials = typename sharding_traits<typename TensorType::sharding_type>::partials;
  if constexpr (partials::size > 0)
    return found<reason::partial_in_nonlinear_operation<typename type_at<partials, 0>::type, Operation>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if a tensor holds values; a partial tensor holds only parts of them.
template <class TensorType, class Operation>
using values_verdict = typename decltype(check_values<TensorType, Operation>())::type;

/// `reason::ok`, or the reason why a tensor cannot be made on a mesh with these arguments.
template <class TensorType, class Mesh, class... Given>
using creation_verdict =
    first_fault<tensor_verdict<typename TensorType::value_type, typename TensorType::sharding_type>,
                writable_verdict<TensorType>,
                mesh_verdict<Mesh, concatenation_of<typename TensorType::mesh_axes, varying_in<TensorType>>>,
                typename decltype(check_extents_given<(varying_in<TensorType>::size > 0)>(
                    typename TensorType::axes{}, type_list<Given...>{}))::type>;

/// A new tensor on the mesh, with its elements not yet set. `Unless`: another verdict that has to be ok.
template <class TensorType, class Unless = reason::ok, class Mesh, class... Given>
[[gnu::cold]] auto make_uninitialised(char const* operation, Mesh const& m, Given const&... given) {
  if constexpr (reason::ok_or_raise<first_fault<creation_verdict<TensorType, Mesh, Given...>, Unless>>()) {
    engine::require_not_ended(operation);
    using axes = typename TensorType::axes;
    auto t = allocate<TensorType>(m.handle(), checked_extents<TensorType>(axes{}, collect_sizes(given...), operation));
    set_given_origins(operation, t, axes{}, varying_in<TensorType>{}, given...);
    return t;
  } else {
    return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                          typename TensorType::space>();
  }
}

/// The type of the last argument, after the extents; void if there are no arguments.
template <class... Arguments>
using last_of = typename type_at<type_list<void, Arguments...>, static_cast<int>(sizeof...(Arguments))>::type;

/// True for an extent, or for void, where a function or a view is expected.
template <class T>
inline constexpr bool names_extents = std::is_arithmetic_v<T> || is_named_extent<T> || knows_extents<T>;
template <>
inline constexpr bool names_extents<void> = true;

/// The error of a call that names dimensions without an element type.
template <class... Arguments>
auto element_type_missing() {
  reason::raise<reason::element_type_comes_first<Arguments...>>();
  return scalar_after_error<Arguments...>();
}

}  // namespace ostraka::detail
