// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::relabel<I, I>(A)`: A as an operand with these labels, one for each axis in order. A label that appears
/// twice takes the diagonal: os::einsum<>(os::relabel<I, I>(A)) is the trace, os::einsum<J, I>(os::relabel<I, J>(A)) a
/// transpose under other names.
///
/// Along each mesh axis that divides one of the axes of a repeated label:
///
///     A              relabel<I, I>(A)    the part of the diagonal that a device holds
///     [I, J]         [I]                 all of it: a view
///     [I_X, J]       [I_X]               the entries of its rows: a view
///     [I, J_X]       [I_X]               the entries of its columns: a view
///     [I_X, J_Y]     [I_X] {U_Y}         the entries that its block covers, zeros for the others of its rows:
///                                        a copy of the diagonal alone
///     {U_Z}          {U_Z}               the same of its summand
///
/// So an einsum reduces or scatters the diagonal, never A. In the fourth case it cannot take the diagonal as [I_Y]
/// {U_X}: transpose A with os::einsum<J, I>(A) first. Nor can it divide the diagonal over X and Y, because the blocks
/// off the diagonal hold none of it.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/tensors/relabelled.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class Label>
consteval auto check_label() {
  if constexpr (Axis<Label>)
    return found<reason::ok>{};
  else
    return found<reason::not_a_label<Label>>{};
}

template <class One, class Other>
consteval auto check_static_extents() {
  if constexpr (One::extent == dynamic_extent || Other::extent == dynamic_extent || One::extent == Other::extent)
    return found<reason::ok>{};
  else
    return found<reason::static_extent_mismatch<One, Other>>{};
}

// `reason::ok` if an axis agrees with its label, and with the other axes that the label stands for.
template <class Label, class Axis, class... Labels, class... Axes>
consteval auto check_axis(type_list<Labels...>, type_list<Axes...>) {
  return found<
      first_fault<typename decltype(check_static_extents<Axis, Label>())::type,
                  typename decltype(check_static_extents<Axis, std::conditional_t<std::is_same_v<Label, Labels>, Axes,
                                                                                  Axis>>())::type...>>{};
}

template <class... Labels, class... Axes>
consteval auto check_relabel(type_list<Labels...> labels, type_list<Axes...> axes) {
  using each = first_fault<typename decltype(check_label<Labels>())::type...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (sizeof...(Labels) != sizeof...(Axes))
    return found<
        reason::wrong_number_of_labels<static_cast<int>(sizeof...(Labels)), static_cast<int>(sizeof...(Axes))>>{};
  else
    return found<first_fault<typename decltype(check_axis<Labels, Axes>(labels, axes))::type...>>{};
}

template <class Labels, class Axes>
using relabel_verdict = typename decltype(check_relabel(Labels{}, Axes{}))::type;

template <class Label, class AxisOfTensor, class Relabelled>
void check_extent(Relabelled const& r) {
  std::int64_t const n = r.tensor().extent(AxisOfTensor{});
  if (n == r.extent(Label{}) && (Label::extent == dynamic_extent || Label::extent == n)) return;
  throw_error("relabel: all axes under a label have its extent, but ", Label::name, " is ",
              Label::extent == dynamic_extent ? r.extent(Label{}) : Label::extent, ", and ", AxisOfTensor::name, " is ",
              n, "; give the axes one extent or labels of their own");
}

template <class Relabelled, class... Labels, class... Axes>
void check_extents([[maybe_unused]] Relabelled const& r, type_list<Labels...>, type_list<Axes...>) {
  (check_extent<Labels, Axes>(r), ...);
}

}  // namespace detail

namespace operation {

template <class... Labels>
struct relabel : detail::moves_nothing {
  using result_is_a_view = void;
  static constexpr char const* name = "relabel";
  template <class A>
  using verdict = detail::relabel_verdict<type_list<Labels...>, axes_in<A>>;
  template <class A>
  using refused = detail::after_error_of<typename A::value_type, sharding<Labels...>, typename A::space>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    relabelled<A, Labels...> const r(a);
    detail::check_extents(r, type_list<Labels...>{}, axes_in<A>{});
    return r;
  }
};

}  // namespace operation

/// The tensor as an operand of os::einsum, os::einsum_into, os::plan and os::sum with these labels, one for each axis
/// in order. A label may appear several times (numpy's "ii"). Copies nothing and moves nothing.
/// @throws ostraka::error, on all devices alike, if axes under one label differ in their extents
template <auto... Labels, TensorOrVariable A>
[[nodiscard]] constexpr auto relabel(A const& a) {
  return detail::operate(operation::relabel<detail::type_of<Labels>...>{}, a);
}

}  // namespace ostraka
