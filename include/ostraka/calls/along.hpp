// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A call names the axis along which an operation works together with the mesh axes that divide it:
/// `os::softmax<V>(A)` for a V that no mesh axis divides, `os::softmax<V/X>(A)` for one that X divides. Naming the mesh
/// axis authorises the communication. Under rules R, `os::softmax<R(V)>(A)` is right for any rule of R for V.
///
///     argument A[…, V]     A[…, V_X]                 A[…, V_Y]
///     V        free        refused: axis_is_divided  refused
///     V/X      refused     communicates over X       refused: axis_sharding_mismatch

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/plan/typed/plan_of.hpp>
#include <ostraka/tensors/block_extents.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::detail {

/// The axis that a call names, and the mesh axes that have to divide it; void if `Dim` is not an axis.
template <class Dim>
struct axis_argument {
  using axis = void;
  using mesh = type_list<>;
};
template <Axis I>
struct axis_argument<I> {
  using axis = I;
  using mesh = type_list<>;
};
template <Axis I, MeshAxis... Ms>
struct axis_argument<over<I, Ms...>> {
  using axis = I;
  using mesh = type_list<Ms...>;
};
template <class Entry>
struct axis_argument<sharding<Entry>> : axis_argument<Entry> {};

template <class I, class Operation, class... Ms>
auto divided_reason(type_list<Ms...>) -> reason::axis_is_divided<I, Operation, Ms...>;

template <class Operation, class Dim, class A>
consteval auto check_axis_argument() {
  using argument = axis_argument<Dim>;
  using I = typename argument::axis;
  if constexpr (std::is_void_v<I>) {
    return found<reason::not_an_axis<Dim, Operation>>{};
  } else if constexpr (position_in<I, axes_in<A>> < 0) {
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  } else {
    using splits = splits_of<I, sharding_in<A>>;
    if constexpr (std::is_same_v<splits, typename argument::mesh>)
      return found<reason::ok>{};
    else if constexpr (argument::mesh::size == 0)
      return found<decltype(divided_reason<I, Operation>(splits{}))>{};
    else
      return found<reason::axis_sharding_mismatch<Dim, sharding_in<A>, Operation>>{};
  }
}

/// `reason::ok` if the axis is divided in A as the call says.
template <class Operation, class Dim, class A>
using axis_argument_verdict = typename decltype(check_axis_argument<Operation, Dim, A>())::type;

template <class Operation, class Dim, class A>
consteval auto check_bare_axis() {
  using argument = axis_argument<Dim>;
  if constexpr (std::is_void_v<typename argument::axis> || argument::mesh::size > 0)
    return check_axis_argument<Operation, Dim, A>();
  else if constexpr (position_in<typename argument::axis, axes_in<A>> < 0)
    return found<reason::axis_missing<typename argument::axis, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

/// For an axis along which nothing communicates, however it is divided: the call names it alone, or with the mesh axes
/// that divide it.
template <class Operation, class Dim, class A>
using bare_axis_verdict = typename decltype(check_bare_axis<Operation, Dim, A>())::type;

template <class Operation, class A>
consteval auto check_whole_values() {
  using partials = typename sharding_traits<sharding_in<A>>::partials;
  if constexpr (partials::size > 0)
    return found<reason::partial_in_nonlinear_operation<typename type_at<partials, 0>::type, Operation>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok` if A holds values, not parts of them.
template <class Operation, class A>
using whole_values_verdict = typename decltype(check_whole_values<Operation, A>())::type;

template <class Operation, class A>
consteval auto check_fractions() {
  using T = typename A::value_type;
  if constexpr (std::is_floating_point_v<T> || is_narrow<T>)
    return found<reason::ok>{};
  else
    return found<reason::elements_are_not_floating_point<T, Operation>>{};
}

/// `reason::ok` if the elements are real numbers and not integers.
template <class Operation, class A>
using fractions_verdict = typename decltype(check_fractions<Operation, A>())::type;

/// The verdict of an operation along one axis on a tensor that has to hold values. `Unless`: another verdict that has
/// to be ok.
template <class Operation, class Dim, class A, class Unless = reason::ok>
using along_verdict = first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, A>,
                                  axis_argument_verdict<Operation, Dim, A>, whole_values_verdict<Operation, A>, Unless>;

/// The sharding of A without the named axis: one element a row.
template <class Dim, class A>
using rows_of = without_axis<sharding_in<A>, typename axis_argument<Dim>::axis>;

/// The number of the dimension of A that the call names.
template <class Dim, class A>
inline constexpr int dimension_of = position_in<typename axis_argument<Dim>::axis, axes_in<A>>;

[[noreturn, gnu::cold]] inline void throw_extent_is_unknown(char const* operation, std::string_view axis) {
  throw_error(operation, ": all devices know whether each has elements enough, but the extent of ", axis,
              " is each device's own and not known to the others; give the block an extent that "
              "all know, or take os::part");
}

/// The least extent of the axis on any device, which all devices know. For operations that need that many elements on
/// each device.
/// @throws ostraka::error, on all devices alike, if it is not known
template <class Dim, class A>
constexpr std::int64_t least_extent([[maybe_unused]] char const* operation, A const& a) {
  using I = typename axis_argument<Dim>::axis;
  if constexpr (varying_in<A>::size > 0) {
    extent_origin const o = origin_in<I>(a);
    if (!o.is_alike()) {
      if (o.whole == extent_origin::of_its_own) throw_extent_is_unknown(operation, I::name);
      std::int64_t ways = 1;
      for (int k = 0; k < o.over.size(); ++k) ways *= a.mesh_handle()->size(o.over[k]);
      return o.whole / ways + o.halo;
    }
  }
  return a.extents()[static_cast<std::size_t>(dimension_of<Dim, A>)];
}

template <class Operation, class Mask>
consteval auto check_truth() {
  if constexpr (std::is_integral_v<typename Mask::value_type>)
    return found<reason::ok>{};
  else
    return found<reason::mask_is_not_true_or_false<typename Mask::value_type, Operation>>{};
}

/// `reason::ok` if the elements are truth values, or whole numbers, of which 0 means false.
template <class Operation, class Mask>
using truth_verdict = typename decltype(check_truth<Operation, Mask>())::type;

}  // namespace ostraka::detail
