// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Errors for two notations of arrays that tensors do not support: conversion to a number, and access by
/// indices. Each error says how to read elements.

#include <concepts>
#include <type_traits>

#include <ostraka/types/reasons/of_other_operations.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka::detail {

/// The empty base of tensors with this sharding that declares both notations.
template <class T, class Sharding>
struct elements_elsewhere {
  /// Does not compile: the error says that os::value returns the number. It is explicit, so that overloads and concepts
  /// do not take a tensor for a number.
  template <class N>
    requires(std::is_arithmetic_v<N> && sharding_traits<Sharding>::axes::size == 0)
  explicit operator N() const {  // os::value(A) gives the number
    reason::raise<reason::tensor_is_not_a_number<Sharding, N>>();
    return N();
  }

  template <std::integral... Is>
  T operator()(Is...) const {
    reason::raise<reason::no_element_access<Sharding>>();
    return T();
  }
  template <std::integral I>
  T operator[](I) const {
    reason::raise<reason::no_element_access<Sharding>>();
    return T();
  }
};

}  // namespace ostraka::detail
