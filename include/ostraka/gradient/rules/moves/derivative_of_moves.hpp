// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Moves of variables: os::reshard, os::rename, os::named and os::copy. A tensor under another sharding is the
/// same tensor, so the result of a reshard shares its operand's cotangent, and later operations compute it in that
/// sharding directly: the backward of a gather and a product is one product and one reduce-scatter. If the result has
/// another order of axes, its cotangent is resharded back. Likewise the cotangents of a renamed tensor and of a copy
/// are computed in the sharding of the operand's cotangents. os::zeros_like of a variable is a constant.

#include <type_traits>

#include <ostraka/creation/copy.hpp>
#include <ostraka/creation/named.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/moves/rename.hpp>
#include <ostraka/moves/reshard_meshes.hpp>

namespace ostraka {

template <class T>
class abstract;  // of predict.hpp

namespace detail {

template <class From, class To>
struct rename_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(operate(ostraka::operation::rename<To, From>{}, g));
  }
};

// The type of the operand's cotangents, with its axis renamed.
template <class From, class To, class Result, class A>
struct renamed_cotangent {
  using type = cotangent_of<Result>;
};
template <class From, class To, class Result, class T, class U, class Sharding, class Space>
struct renamed_cotangent<From, To, Result, variable<T, basic_tensor<U, Sharding, Space>>> {
  using type = basic_tensor<U, typename rename_sharding<From, To, Sharding>::type, Space>;
};

template <class From, class To, class Result, class T, class U, class Sharding, class Space>
struct renamed_cotangent<From, To, Result, variable<T, abstract<basic_tensor<U, Sharding, Space>>>> {
  using type = abstract<basic_tensor<U, typename rename_sharding<From, To, Sharding>::type, Space>>;
};

}  // namespace detail

/// A verb of a single move returns the same tensor under another sharding, as a reshard does; other operations may
/// declare it too.
template <class Operation>
  requires requires { typename Operation::changes_sharding; }
struct derivative_of<Operation> {
  template <class A>
  static constexpr auto composed(Operation const&, A const& a) {
    if constexpr (reason::ok_or_raise<typename Operation::template verdict<A>>())
      return detail::reshard_as<typename Operation::template target<A>>(a);
    else
      return a;
  }
};

template <class To>
struct derivative_of<operation::reshard<To>> {
  template <Variable A, class Policy>
    requires(!is_abstract<A> && !detail::reorders_axes<A, To>)
  static constexpr auto composed(operation::reshard<To> const&, A const& a, Policy const& how) {
    return detail::reshard_as<To>(a, how);
  }
  template <class Result, class A, class... Policy>
  static constexpr auto pullback(operation::reshard<To> const&, Result const&, A const&, Policy const&...) {
    return detail::identity_pullback{};  // back, to the operand's order of axes
  }
};

template <class To>
struct derivative_of<operation::reshard_to_mesh<To>> {
  template <class A, class Mesh>
  static constexpr auto composed(operation::reshard_to_mesh<To> const&, A const&, Mesh const&) {
    reason::raise<reason::verb_takes_no_variables<A>>();
    return detail::after_error_of<typename A::value_type, To, typename A::space>();
  }
};

template <class From, class To>
struct derivative_of<operation::rename<From, To>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::renamed_cotangent<From, To, Result, A>::type;
  template <class Result, class A>
  static constexpr auto pullback(operation::rename<From, To>, Result const&, A const&) {
    return detail::rename_pullback<From, To>{};
  }
};

template <>
struct derivative_of<operation::copy> {
  template <class Result, class A>
  using operand_cotangent = typename A::cotangent_type;
  template <class Result, class A>
  static constexpr auto pullback(operation::copy, Result const&, A const&) {
    return detail::identity_pullback{};
  }
};

template <>
struct derivative_of<operation::zeros_like> : detail::locally_constant {};

/// The same variable, with a named value. Abstract tensors have no names, and constant expressions make none.
template <>
struct derivative_of<operation::named> {
  template <class A, class Label>
  static constexpr A composed(operation::named const& operation, A const& a, [[maybe_unused]] Label const& label) {
    if constexpr (is_abstract<A> || detail::is_abstract_variable<A>)
      return a;
    else
      return a.with_value(detail::operate(operation, a.value(), label));
  }
};

}  // namespace ostraka
