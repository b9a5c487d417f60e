// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Cotangents of complex numbers. The cotangent of z = x + iy is the c for which the loss changes by Re(c dz),
/// which is ∂/∂x − i ∂/∂y of the loss, as in JAX: the dual space without a conjugation. So linear and holomorphic
/// operations have the same rules as for real numbers. The other operations have their own:
///
///     real   g                 conj   the conjugate of g          a real operand of a complex result: Re g
///     imag   −i g              abs    g times that of z / |z|; 0 where z is

#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/operations/elements/complex_parts.hpp>
#include <ostraka/operations/elements/functions.hpp>

namespace ostraka {

template <class T>
class abstract;  // of predict.hpp

namespace detail {

/// Converts a cotangent for an operand with elements of type T: takes the real part if T is real.
template <class T, class G>
constexpr auto projected(G const& g) {
  using from = typename G::value_type;
  if constexpr (std::is_same_v<from, T>)
    return g;
  else if constexpr (is_real<T> && !is_real<from>)
    return projected<T>(ostraka::real(g));
  else
    return ostraka::cast<T>(g);
}

/// The conjugate; a real tensor unchanged.
template <class G>
constexpr auto conjugated(G const& g) {
  if constexpr (is_real<typename G::value_type>)
    return g;
  else
    return ostraka::conj(g);
}

/// The product of two tensors, of which one may be real and the other complex.
template <class A, class B>
constexpr auto multiply_alike(A const& a, B const& b) {
  using of_a = typename A::value_type;
  using of_b = typename B::value_type;
  if constexpr (is_real<of_a> && !is_real<of_b>)
    return ostraka::multiply(ostraka::cast<of_b>(a), b);
  else if constexpr (!is_real<of_a> && is_real<of_b>)
    return ostraka::multiply(a, ostraka::cast<of_a>(b));
  else
    return ostraka::multiply(a, b);
}

/// x / y, or 0 if y is 0; with g, the quotient times g.
struct ratio_or_zero {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y) const {
    return y == T(0.0f) ? T(0.0f) : T(x / y);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y, T const& g) const {
    using wide = accumulator_of_t<T>;
    return y == T(0.0f) ? T(0.0f) : T(static_cast<wide>(g) * (static_cast<wide>(x) / static_cast<wide>(y)));
  }
  /// For a complex x, uses its conjugate.
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> operator()(Kokkos::complex<R> const& x, R const& y, R const& g) const {
    if (y == R(0)) return {R(0), R(0)};
    return {g * (x.real() / y), -g * (x.imag() / y)};
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& x, T const& y) const {
    return y == T(0.0f) ? T(0.0f) : K == 0 ? T(T(1.0f) / y) : T(-x / y / y);
  }
  template <int K, int L, class T>
  KOKKOS_INLINE_FUNCTION T second_derivative(T const& x, T const& y) const {
    if constexpr (K == 0 && L == 0)
      return T(0.0f);
    else if constexpr (K == 1 && L == 1)
      return y == T(0.0f) ? T(0.0f) : T((x + x) / y / y / y);
    else
      return y == T(0.0f) ? T(0.0f) : T(T(-1.0f) / y / y);
  }
};

/// g conj(z) / |z|, or 0 if z is 0.
struct times_conjugate_of_direction {
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> operator()(R const& g, Kokkos::complex<R> const& z) const {
    return ratio_or_zero{}(z, operation::abs::of(z), g);
  }
};

/// The pullback of the modulus of complex numbers.
template <class A>
struct modulus_pullback {
  kept<true, A> z;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (any_differentiated_again<G, plain_type<A>>)
      return summed_to<Wanted>(
          multiply_alike(ostraka::conj(z.get()), ostraka::map(ratio_or_zero{}, g, ostraka::abs(z.get()))));
    else
      return summed_to<Wanted>(ostraka::map(times_conjugate_of_direction{}, g, z.get()));
  }
};

struct conjugate_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(conjugated(g));
  }
};

/// The type of the operand's cotangents; the conjugate of a partial sum is a partial sum.
template <class Result, class A>
struct conjugate_cotangent {
  using type = cotangent_of<Result>;
};
template <class Result, class T, class U, class Sharding, class Space>
struct conjugate_cotangent<Result, variable<T, basic_tensor<U, Sharding, Space>>> {
  using type = basic_tensor<U, Sharding, Space>;
};
template <class Result, class T, class U, class Sharding, class Space>
struct conjugate_cotangent<Result, variable<T, abstract<basic_tensor<U, Sharding, Space>>>> {
  using type = abstract<basic_tensor<U, Sharding, Space>>;
};

struct real_part_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using T = typename Wanted::value_type;
    if constexpr (std::is_same_v<sharding_in<G>, sharding_in<Wanted>>)
      return projected<T>(g);
    else
      return projected<T>(reshard_as<sharding_in<Wanted>>(g));  // so that real numbers move
  }
};

struct imaginary_part_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using T = typename Wanted::value_type;
    return ostraka::scale(real_part_pullback{}.template pull<0, Wanted>(g), T(0, -1));
  }
};

}  // namespace detail

/// Linear in the cotangent, so partial sums stay partial.
template <reduction Kind>
inline constexpr preservation preserves<detail::times_conjugate_of_direction, Kind> = multilinear(Kind, 0b1);

// Real variables are their own real parts and conjugates; their imaginary parts are constants.
template <>
struct derivative_of<operation::conj> {
  template <class A>
    requires(detail::is_real<typename A::value_type>)
  static constexpr auto composed(operation::conj const&, A const& a) { return a; }
  template <class Result, class A>
  using operand_cotangent = typename detail::conjugate_cotangent<Result, A>::type;
  template <class Result, class A>
  static constexpr detail::conjugate_pullback pullback(operation::conj const&, Result const&, A const&) {
    return {};
  }
};
template <>
struct derivative_of<operation::real> {
  template <class A>
    requires(detail::is_real<typename A::value_type>)
  static constexpr auto composed(operation::real const&, A const& a) { return a; }
  template <class Result, class A>
  static constexpr detail::real_part_pullback pullback(operation::real const&, Result const&, A const&) {
    return {};
  }
};
template <>
struct derivative_of<operation::imag> {
  template <class A>
    requires(detail::is_real<typename A::value_type>)
  static constexpr auto composed(operation::imag const&, A const& a) { return imag(stop_gradient(a)); }
  template <class Result, class A>
  static constexpr detail::imaginary_part_pullback pullback(operation::imag const&, Result const&, A const&) {
    return {};
  }
};

}  // namespace ostraka
