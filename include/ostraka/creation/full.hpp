// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::full<float, I/X, J>(mesh, I = 1024, J = 8, 2.5)` and `os::ones<float, I/X, J>(mesh, I = 1024, J = 8)`.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/numbers.hpp>

namespace ostraka {

namespace detail {

template <class TensorType, class Operation, class Mesh, class Value, class... Given>
auto full_of(char const* operation, Value const& value, Mesh const& m, Given const&... given) {
  auto t = make_uninitialised<TensorType, values_verdict<TensorType, Operation>>(operation, m, given...);
  using element = typename decltype(t)::value_type;
  if constexpr (std::is_same_v<decltype(t), TensorType>)
    fill_block(operation, t, as_element<element>(operation, value));
  return t;
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto full_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  return full_of<TensorType, operation::full>("full", std::get<sizeof...(Is)>(arguments), m,
                                              std::get<Is>(arguments)...);
}

}  // namespace detail

/// A tensor whose elements all equal one number, which comes last, after the extents.
/// @throws ostraka::error for a negative extent or one that contradicts a static one, and for a number that elements of
/// an integer type cannot hold
template <class T, auto... Dims, class Mesh, class... ExtentsThenValue>
[[nodiscard]] auto full([[maybe_unused]] Mesh const& m,
                        [[maybe_unused]] ExtentsThenValue const&... extents_then_value) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using element = typename tensor_type::value_type;
  using last = detail::last_of<ExtentsThenValue...>;
  if constexpr (detail::is_number_among<last, element>) {
    return detail::full_from<tensor_type>(m, std::forward_as_tuple(extents_then_value...),
                                          std::make_index_sequence<sizeof...(ExtentsThenValue) - 1>{});
  } else {
    reason::raise<reason::value_comes_last<last, element>>();
    return detail::after_error_of<element, typename tensor_type::sharding_type, typename tensor_type::space>();
  }
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto full(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

/// A tensor of ones. @throws ostraka::error for a negative extent or one that contradicts a static one
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto ones(Mesh const& m, Given const&... given) {
  return detail::full_of<typename detail::named_tensor<T, Dims...>::type, operation::ones>("ones", 1, m, given...);
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto ones(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
