// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of arithmetic: add, subtract, negate, scale, multiply, divide of variables, constants and
/// numbers. Cotangents are summed over the axes along which an operand was repeated.

#include <type_traits>
#include <utility>

#include <ostraka/arithmetic.hpp>
#include <ostraka/gradient/record.hpp>

namespace ostraka {

namespace detail {

/// x ↦ sign · x in each operand.
template <int... Signs>
struct linear_pullback {
  template <int K, class Wanted, class G>
  Wanted pull(G const& g) const {
    constexpr int signs[] = {Signs...};
    if constexpr (signs[K] > 0)
      return summed_to<Wanted>(g);
    else
      return negate(summed_to<Wanted>(g));
  }
};

/// x ↦ factor · x.
template <class Number>
struct scaled_pullback {
  Number factor;
  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    return scale(summed_to<Wanted>(g), factor);
  }
};

/// Of a · b: the cotangent times the other, summed in one einsum.
template <class A, class B>
struct product_pullback {
  kept<is_variable<B>, plain_type<A>> a;
  kept<is_variable<A>, plain_type<B>> b;
  product_pullback(A const& x, B const& y) : a(plain(x)), b(plain(y)) {}

  template <int K, class Wanted, class G>
  Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return checked_einsum<at_once, sharding_in<Wanted>>("einsum", g, b);
    else
      return checked_einsum<at_once, sharding_in<Wanted>>("einsum", g, a);
  }
};

/// Of a / b: g / b and −g (a / b) / b.
template <class A, class B, class Quotient>
struct quotient_pullback {
  kept<is_variable<B>, Quotient> quotient;
  plain_type<B> b;

  template <int K, class Wanted, class G>
  Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return summed_to<Wanted>(divide(g, b));
    else
      return negate(summed_to<Wanted>(divide(multiply(g, quotient), b)));
  }
};

/// Of a / n.
template <class Number>
struct divided_pullback {
  Number n;
  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    return divide(summed_to<Wanted>(g), n);
  }
};

/// Of n / a: −g (n / a) / a.
template <class T>
struct reciprocal_pullback {
  T quotient, a;
  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    return negate(summed_to<Wanted>(divide(multiply(g, quotient), a)));
  }
};

template <class A, class B>
concept VariableOperands = (Variable<A> && (Variable<B> || Tensor<B>)) || (Tensor<A> && Variable<B>);

}  // namespace detail

template <class A, class B>
  requires detail::VariableOperands<A, B>
[[nodiscard]] auto add(A const& a, B const& b) {
  return detail::record(add(detail::plain(a), detail::plain(b)), detail::linear_pullback<1, 1>{}, a, b);
}
template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto add(A const& a, Number const& n) {
  return detail::record(add(a.value(), n), detail::linear_pullback<1>{}, a);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] auto add(Number const& n, A const& a) {
  return add(a, n);
}

template <class A, class B>
  requires detail::VariableOperands<A, B>
[[nodiscard]] auto subtract(A const& a, B const& b) {
  return detail::record(subtract(detail::plain(a), detail::plain(b)), detail::linear_pullback<1, -1>{}, a, b);
}
template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto subtract(A const& a, Number const& n) {
  return detail::record(subtract(a.value(), n), detail::linear_pullback<1>{}, a);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] auto subtract(Number const& n, A const& a) {
  return detail::record(subtract(n, a.value()), detail::linear_pullback<-1>{}, a);
}

template <Variable A>
[[nodiscard]] auto negate(A const& a) {
  return detail::record(negate(a.value()), detail::linear_pullback<-1>{}, a);
}

template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto scale(A const& a, Number const& factor) {
  return detail::record(scale(a.value(), factor), detail::scaled_pullback<Number>{factor}, a);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] auto scale(Number const& factor, A const& a) {
  return scale(a, factor);
}

template <class A, class B>
  requires detail::VariableOperands<A, B>
[[nodiscard]] auto multiply(A const& a, B const& b) {
  return detail::record(multiply(detail::plain(a), detail::plain(b)), detail::product_pullback<A, B>(a, b), a, b);
}
template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto multiply(A const& a, Number const& factor) {
  return scale(a, factor);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] auto multiply(Number const& factor, A const& a) {
  return scale(a, factor);
}

template <class A, class B>
  requires detail::VariableOperands<A, B>
[[nodiscard]] auto divide(A const& a, B const& b) {
  auto const quotient = divide(detail::plain(a), detail::plain(b));
  using pullback = detail::quotient_pullback<A, B, std::remove_cvref_t<decltype(quotient)>>;
  return detail::record(quotient, pullback{decltype(pullback::quotient)(quotient), detail::plain(b)}, a, b);
}
template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto divide(A const& a, Number const& n) {
  return detail::record(divide(a.value(), n), detail::divided_pullback<Number>{n}, a);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] auto divide(Number const& n, A const& a) {
  auto const quotient = divide(n, a.value());
  using type = std::remove_cvref_t<decltype(quotient)>;
  return detail::record(quotient, detail::reciprocal_pullback<type>{quotient, a.value()}, a);
}

// ---- operators ------------------------------------------------------------------------------------------------------

namespace detail {

template <class A, class B>
concept VariableMeets =
    VariableOperands<A, B> || (Variable<A> && is_number<B>) || (is_number<A> && Variable<B>);

}  // namespace detail

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] auto operator+(A const& a, B const& b) {
  return add(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] auto operator-(A const& a, B const& b) {
  return subtract(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] auto operator*(A const& a, B const& b) {
  return multiply(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] auto operator/(A const& a, B const& b) {
  return divide(a, b);
}
template <Variable A>
[[nodiscard]] auto operator-(A const& a) {
  return negate(a);
}

}  // namespace ostraka
