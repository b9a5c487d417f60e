// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::cast<double>(A)`: the elements as another type. If the new type represents all values of the old one,
/// partial tensors stay partial: A[I] {U_X} of float → [I] {U_X} of double. If values are rounded, sums are not kept.
///
///     from → to                       sum, prod    max, min    and, or
///     all values kept                 kept         kept        between integers
///     rounded (double → float)        –            kept        –            (bfloat16 → float16: out of range, too)
///     cut (int64 → int32)             –            –           kept
///     floating point → integers       –            –           –            no integer represents infinity
///     numbers → bool (x ≠ 0)          –            –           or kept
///
/// Nothing saturates. Numbers are converted as static_cast does: a number that becomes an integer is truncated towards
/// zero, an integer is reduced to its low bits. The result is undefined for a floating-point number beyond the
/// integers' range (os::clamp it first). A bool is x ≠ 0, as in NumPy (NaN is true), and becomes 0 or 1.

#include <limits>

#include <ostraka/elements/map.hpp>

namespace ostraka {

namespace detail {

template <class To>
struct to_element {
  template <class From>
  KOKKOS_INLINE_FUNCTION To operator()(From const& a) const noexcept {
    if constexpr (std::is_same_v<real_of<From>, From> && !std::is_same_v<real_of<To>, To>)
      return To(static_cast<real_of<To>>(a), real_of<To>(0));
    else if constexpr (!std::is_same_v<real_of<From>, From>)
      return To(static_cast<real_of<To>>(a.real()), static_cast<real_of<To>>(a.imag()));
    else
      return static_cast<To>(a);
  }
};

template <class T>
inline constexpr bool is_real = std::is_same_v<real_of<T>, T>;

// True if To represents all values of From.
template <class From, class To>
inline constexpr bool is_exact =
    (is_real<From> || !is_real<To>)&&(std::is_integral_v<From> ||
                                      !std::is_integral_v<To>)&&std::numeric_limits<real_of<From>>::digits
    <= std::numeric_limits<real_of<To>>::digits&& std::numeric_limits<real_of<From>>::max_exponent
    <= std::numeric_limits<real_of<To>>::max_exponent;

template <class From, class To>
inline constexpr preservation cast_keeps(reduction kind) {
  bool const integers = std::is_integral_v<From> && std::is_integral_v<To>;
  bool const ordered = is_real<From> && is_real<To>;
  if (kind == reduction::bit_and || kind == reduction::bit_or)
    return integers && (kind == reduction::bit_or || !std::is_same_v<To, bool> || std::is_same_v<From, bool>)
               ? preservation{kind, {}}
               : preservation{};
  if (kind == reduction::max || kind == reduction::min)
    return ordered && (is_exact<From, To> || !std::is_integral_v<To>) ? non_decreasing(kind) : preservation{};
  return is_exact<From, To> ? linear(kind) | multiplicative(kind) : preservation{};
}

// A cast from one element type to another, as a key for the trait os::preserves.
template <class From, class To>
struct cast_of {};

// `reason::ok` unless complex numbers are to become real: there is no single real number for a complex one.
template <class From, class To>
consteval auto check_cast() {
  if constexpr (!is_element<To>)
    return found<reason::element_type_unsupported<To>>{};
  else if constexpr (!is_real<From> && is_real<To>)
    return found<reason::cast_drops_imaginary_part<From, To>>{};
  else
    return found<reason::ok>{};
}

template <class From, class To>
using cast_verdict = typename decltype(check_cast<From, To>())::type;

// Checks partial states only if the elements can be converted.
template <class Operation, class To, class A>
consteval auto check_cast_of() {
  using from = typename A::value_type;
  using elements = cast_verdict<from, To>;
  if constexpr (!std::is_same_v<elements, reason::ok>)
    return found<elements>{};
  else
    return found<map_verdict<Operation, cast_of<from, To>, reason::ok, To, A>>{};
}

}  // namespace detail

template <class From, class To, reduction Kind>
inline constexpr preservation preserves<detail::cast_of<From, To>, Kind> = detail::cast_keeps<From, To>(Kind);

namespace operation {

/// The operation of os::cast<To>.
template <class To>
struct cast : detail::moves_nothing {
  static constexpr char const* name = "cast";
  using to = typename detail::element<To>::type;
  template <class A>
  using keeper = detail::cast_of<typename A::value_type, to>;
  template <class A>
  using verdict = typename decltype(detail::check_cast_of<cast, to, A>())::type;
  template <class A>
  using refused = detail::after_error_of<typename A::value_type, typename A::sharding_type, typename A::space>;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    return detail::run_map<detail::map_types<keeper<A>, A>, to>(name, detail::to_element<to>{}, a);
  }
};

}  // namespace operation

/// The elements converted to `To`, as static_cast does. Real numbers become complex; complex ones do not become real.
template <class To, TensorOrVariable A>
[[nodiscard]] constexpr auto cast(A const& a) {
  return detail::operate(operation::cast<To>{}, a);
}

}  // namespace ostraka
