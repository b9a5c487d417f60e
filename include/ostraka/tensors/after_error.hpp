// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The result of an operation that does not compile, so that its error is the only one: a tensor with the
/// requested sharding, which converts to every other tensor.

#include <type_traits>

#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

namespace detail {

template <class Axes>
struct undivided;

template <class... As>
struct undivided<type_list<As...>> {
  using type = std::conditional_t<(sizeof...(As) <= max_rank), sharding<As...>, sharding<>>;
};

/// The sharding if it is valid; else its axes, each once and undivided.
template <class Sharding>
using fallback_sharding =
    std::conditional_t<is_valid_sharding<Sharding>, Sharding, typename undivided<union_of<axes_in<Sharding>>>::type>;

/// Takes the place of a result. A program that compiles never makes one.
template <class TensorType>
struct after_error : TensorType {
  template <class T, class Sharding, class Space>
  operator basic_tensor<T, Sharding, Space>() const {
    return {};
  }

  /// Has the members of an os::pending, for an operation that has started.
  [[nodiscard]] after_error wait() const { return *this; }
  [[nodiscard]] bool test() const { return true; }
};

template <class T>
inline constexpr bool is_after_error = false;
template <class TensorType>
inline constexpr bool is_after_error<after_error<TensorType>> = true;

template <class T, class Sharding>
using fallback_parts = std::conditional_t<std::is_same_v<element_verdict<T, Sharding>, reason::ok>, Sharding,
                                          typename undivided<axes_in<Sharding>>::type>;

template <class T, class Sharding, class Space = Kokkos::DefaultExecutionSpace::device_type>
using after_error_of = after_error<
    basic_tensor<std::conditional_t<is_element<T>, T, float>,
                 fallback_parts<std::conditional_t<is_element<T>, T, float>, fallback_sharding<Sharding>>, Space>>;

/// The result, with this sharding, of a refused operation on A. Programs without elements have their own
/// (predict.hpp).
template <class A, class Sharding>
struct refused_of {
  using type = after_error_of<typename A::value_type, Sharding, typename A::space>;
};

template <class... Arguments>
struct no_sharding {
  using type = sharding<>;
};

/// A scalar result, for a call with unknown tensors. It depends on the arguments, so that only a call instantiates it,
/// and not each inclusion of a header.
template <class... Arguments>
using scalar_after_error = after_error_of<float, typename no_sharding<Arguments...>::type>;

}  // namespace detail

template <class TensorType>
inline constexpr bool is_tensor<detail::after_error<TensorType>> = true;

}  // namespace ostraka
