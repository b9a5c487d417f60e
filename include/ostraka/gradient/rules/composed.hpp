// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of an operation that fuses a composition of other operations into one pass. It is the
/// derivative of the composition, which runs on a tape of its own when the derivative is needed. So a fused backward
/// has second derivatives without a rule of its own.

#include <tuple>
#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

template <class T>
class abstract;  // of predict.hpp

}  // namespace ostraka

namespace ostraka::detail {

/// The tensor type within variables of variables.
template <class T>
consteval auto find_innermost() {
  if constexpr (is_variable<T>)
    return find_innermost<typename T::tensor_type>();
  else
    return std::type_identity<T>{};
}
template <class T>
using innermost = typename decltype(find_innermost<T>())::type;

/// `F` is the composition, a function of the operands.
template <class F, class... Given>
struct composed_pullback {
  F f;
  std::tuple<Given...> given;  // variables serve only for their types; nothing is added to them here

  template <class G>
  auto pull_all(G const& g) const {
    return std::apply([&](Given const&... x) { return run(g, x...); }, given);
  }

 private:
  template <class G>
  auto run(G const& g, Given const&... x) const {
    tape own;
    auto const operands = std::tuple(fresh(own, x)...);
    tape_node const* const leaves = own.last();
    auto const result = std::apply(f, operands);
    result.slot()->add(summed_to<typename std::remove_cvref_t<decltype(result)>::cotangent_type>(g));
    own.unwind_to(leaves);
    return std::apply([](auto const&... v) { return std::tuple(sum_of(v)...); }, operands);
  }

  template <class T>
  static plain_type<T> fresh(tape&, T const& constant) {
    return plain(constant);
  }
  template <class T, class Cotangent>
  static variable<T, Cotangent> fresh(tape& t, variable<T, Cotangent> const& x) {
    return {x.value(), t.push<cotangent_slot<Cotangent>>(), &t};
  }

  template <class T>
  static not_kept sum_of(T const& constant) {
    return not_kept(constant);
  }
  template <class T, class Cotangent>
  static cotangent_sum<Cotangent> sum_of(variable<T, Cotangent> const& x) {
    if (x.slot() == nullptr || x.slot()->is_empty()) return {true, {}};
    return {false, Cotangent(x.slot()->sum())};
  }
};

/// The rule of an operation with the same result as `composition(operation, operands…)`.
template <class Operation, class Composition>
struct composed_derivative {
  struct bound {
    Operation operation;
    template <class... Operands>
    auto operator()(Operands const&... operands) const {
      return Composition{}(operation, operands...);
    }
  };

  template <class Result, class... Given>
  static constexpr auto pullback(Operation const& operation, Result const&, Given const&... given) {
    return composed_pullback<bound, Given...>{{operation}, {given...}};
  }
};

/// A tensor or variable with elements in the type of arithmetic: 16-bit elements become float.
template <class A>
constexpr auto as_wide(A const& a) {
  using T = typename A::value_type;
  if constexpr (std::is_same_v<accumulator_of_t<T>, T>)
    return a;
  else
    return ostraka::cast<accumulator_of_t<T>>(a);
}

/// Converts back to elements of type T.
template <class T, class A>
constexpr auto as_elements(A const& a) {
  if constexpr (std::is_same_v<typename A::value_type, T>)
    return a;
  else
    return ostraka::cast<T>(a);
}

}  // namespace ostraka::detail
