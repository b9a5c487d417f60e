// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::axis_index<X>(a)` and `os::axis_size<X>(a)`: this device's coordinate along X, and the number of
/// devices along X.

#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/meshes/mesh.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/shardings/varying_int.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class T>
engine::device_mesh const& mesh_of(char const* operation, T const& where) {
  if constexpr (TensorOrVariable<T>)
    return *common_mesh(operation, underlying_tensor(where));
  else
    return *where.handle();
}

template <class M>
int running_axis(char const* operation, engine::device_mesh const& mesh) {
  int const axis = mesh.find(M::name);
  if (axis < 0)
    throw_error(operation, ": the mesh has no axis ", M::name, "; add it to os::make_mesh (size 1 costs nothing)");
  return axis;
}

// A number that varies along these mesh axes, which its type names in a canonical order.
template <class... Ms>
using index_along =
    typename varying_int_over<typename sort_by_name<type_list<>, type_list<Ms...>>::type>::type;

}  // namespace detail

/// This device's coordinate along X, on the mesh of a tensor or block, or on a given mesh. For several mesh axes it is
/// the device's number along all of them, the first one major. −1 if the mesh is absent.
template <auto X, auto... More, class Where>
[[nodiscard]] auto axis_index(Where const& where) {
  engine::device_mesh const& mesh = detail::mesh_of("axis_index", where);
  std::int64_t number = 0;
  auto const count = [&]<class M>(std::type_identity<M>) {
    int const axis = detail::running_axis<M>("axis_index", mesh);
    number = number * mesh.size(axis) + mesh.coordinate(axis);
  };
  count(std::type_identity<detail::type_of<X>>{});
  (count(std::type_identity<detail::type_of<More>>{}), ...);
  return detail::index_along<detail::type_of<X>, detail::type_of<More>...>(mesh.absent() ? -1 : number);
}

/// The number of devices along X, or along several mesh axes together. If they have static sizes, `os::axis_size<X>()`
/// is a constant.
template <auto X, auto... More, class Where>
[[nodiscard]] int axis_size(Where const& where) {
  engine::device_mesh const& mesh = detail::mesh_of("axis_size", where);
  return mesh.size(detail::running_axis<detail::type_of<X>>("axis_size", mesh)) *
         (1 * ... * mesh.size(detail::running_axis<detail::type_of<More>>("axis_size", mesh)));
}
template <auto X, auto... More>
  requires(detail::type_of<X>::extent != dynamic_extent && ((detail::type_of<More>::extent != dynamic_extent) && ...))
[[nodiscard]] consteval int axis_size() {
  return static_cast<int>((detail::type_of<X>::extent * ... * detail::type_of<More>::extent));
}

namespace detail {

template <class A, class B>
concept VaryingNumberMeetsTensor = (is_varying_int<A> && is_tensor<B>) || (is_tensor<A> && is_varying_int<B>);

template <class A, class B>
auto varying_number_meets_tensor() {
  using tensor_type = std::conditional_t<is_tensor<A>, A, B>;
  reason::raise<reason::varying_number_meets_tensor<std::conditional_t<is_tensor<A>, B, A>, tensor_type>>();
  return after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                        typename tensor_type::space>();
}

}  // namespace detail

/// Do not compile: the error says that elements are combined only with numbers of their own kind.
template <class A, class B>
  requires detail::VaryingNumberMeetsTensor<A, B>
auto operator+(A const&, B const&) { return detail::varying_number_meets_tensor<A, B>(); }
template <class A, class B>
  requires detail::VaryingNumberMeetsTensor<A, B>
auto operator-(A const&, B const&) { return detail::varying_number_meets_tensor<A, B>(); }
template <class A, class B>
  requires detail::VaryingNumberMeetsTensor<A, B>
auto operator*(A const&, B const&) { return detail::varying_number_meets_tensor<A, B>(); }
template <class A, class B>
  requires detail::VaryingNumberMeetsTensor<A, B>
auto operator/(A const&, B const&) { return detail::varying_number_meets_tensor<A, B>(); }
template <class A, class B>
  requires detail::VaryingNumberMeetsTensor<A, B>
bool operator==(A const&, B const&) {
  detail::varying_number_meets_tensor<A, B>();
  return false;
}
template <class A, class B>
requires detail::VaryingNumberMeetsTensor<A, B> std::strong_ordering operator<=>(A const&, B const&) {
  detail::varying_number_meets_tensor<A, B>();
  return std::strong_ordering::equal;
}

}  // namespace ostraka
