// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of reductions: os::max, min and prod, os::norm, variance and standard_deviation. Indices
/// and bools (argmax, count, any, all) are constants.
///
///     max, min              the elements that equal it share its cotangent equally, as in JAX
///     prod                  the product of the other elements, also with zeros: the product of all, divided by the
///                           element; it overflows where the product of all does
///     norm                  x / norm; 0 where the norm is 0
///     variance              2 (x − mean) / (n − ddof)
///     mean_where            that of the operations of which it is composed
///     standard_deviation    (x − mean) / ((n − ddof) deviation); 0 where the deviation is 0
///     norm, variance and standard_deviation of complex numbers: the conjugates
///
/// A tensor with one number a row is resharded to the rows of the operand in its own sharding. Then numbers of rows are
/// summed over the devices that divide them: for max the number of equal elements, for prod two numbers, for variance
/// the mean.

#include <cstdint>

#include <ostraka/gradient/rules/elements/derivative_of_choices.hpp>
#include <ostraka/operations/reductions/argmax.hpp>
#include <ostraka/operations/reductions/mean_where.hpp>
#include <ostraka/operations/reductions/norm.hpp>

namespace ostraka {

namespace detail {

/// The rows of A under a reduction to the axes of `Out`: A's sharding without the reduced axes.
template <class Out, class A>
using reduced_rows_of = without_axes<sharding_in<A>, difference_of<axes_in<A>, axes_in<Out>>>;

/// 1 / `equal` if the element equals that of its row, else 0.
struct equal_share {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y, std::int64_t equal) const {
    return T((x == y ? 1.0f : 0.0f) / static_cast<accumulator_of_t<T>>(equal));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y, std::int64_t equal, T const& g) const {
    using wide = accumulator_of_t<T>;
    return T((x == y ? static_cast<wide>(g) : wide(0.0f)) / static_cast<wide>(equal));
  }
};

template <class A, class Result>
struct extreme_pullback {
  kept<true, A> x;
  kept<true, Result> y;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using rows = reduced_rows_of<Result, A>;
    auto const elements = stop_gradient(x.get());
    auto const extreme = reshard_as<rows>(stop_gradient(y.get()));
    auto const equal = operate(ostraka::operation::count<rows>{}, ostraka::equal(elements, extreme));
    auto const of_row = reshard_as<rows>(g);
    if constexpr (is_variable<G>)
      return summed_to<Wanted>(ostraka::multiply(ostraka::map(equal_share{}, elements, extreme, equal), of_row));
    else
      return summed_to<Wanted>(ostraka::map(equal_share{}, elements, extreme, equal, of_row));
  }
};

/// The element, or 1 in place of a zero.
struct one_for_zero {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const {
    return x == T(0.0f) ? T(1.0f) : x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& x) const {
    return x == T(0.0f) ? T(0.0f) : T(1.0f);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T second_derivative(T const&) const {
    return T(0.0f);
  }
};

/// 1 if exactly `Zeros` of the other elements are zero, else 0. `elements` counts all, `nonzero` those that are not
/// zero.
template <int Zeros>
struct zeros_among_others {
  std::int64_t elements;
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, std::int64_t nonzero) const {
    return elements - nonzero - (x == T(0.0f) ? 1 : 0) == Zeros ? T(1.0f) : T(0.0f);
  }
};

struct is_zero {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const {
    return x == T(0.0f) ? T(1.0f) : T(0.0f);
  }
};

/// The product of the other elements is the product of those that are not zero times the product of the zeros: 1 if
/// there are none, the zero itself if there is one (which matters for a second derivative), and 0 if there are more.
template <class A, class Result>
struct product_of_others_pullback {
  kept<true, A> x;
  std::int64_t elements;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using rows = reduced_rows_of<Result, A>;
    auto const& factors = x.get();
    auto const plain_factors = stop_gradient(factors);
    auto const nonzero = operate(ostraka::operation::count<rows>{}, plain_factors);
    auto const without = ostraka::map(one_for_zero{}, factors);
    auto const others =
        ostraka::divide(operate(ostraka::operation::reduce<reduction::prod, rows>{}, without, cheapest), without);
    auto const none = ostraka::map(zeros_among_others<0>{elements}, plain_factors, nonzero);
    auto const gs = ostraka::multiply(others, reshard_as<rows>(g));
    if constexpr (any_variable<plain_type<A>>) {
      auto const one = ostraka::map(zeros_among_others<1>{elements}, plain_factors, nonzero);
      auto const zeros = ostraka::multiply(ostraka::map(is_zero{}, plain_factors), factors);
      auto const other = ostraka::subtract(sum_as<rows>(zeros), zeros);
      return summed_to<Wanted>(ostraka::multiply(gs, ostraka::add(none, ostraka::multiply(one, other))));
    } else {
      return summed_to<Wanted>(ostraka::multiply(gs, none));
    }
  }
};

template <class A, class Result>
struct norm_pullback {
  kept<true, A> x;
  kept<true, Result> y;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using rows = reduced_rows_of<Result, A>;
    auto const length = reshard_as<rows>(y.get());
    auto const of_row = reshard_as<rows>(g);
    if constexpr (any_differentiated_again<G, plain_type<A>> && !is_real<typename A::value_type>)
      return summed_to<Wanted>(multiply_alike(ostraka::conj(x.get()), ostraka::map(ratio_or_zero{}, of_row, length)));
    else if constexpr (any_differentiated_again<G, plain_type<A>>)
      return summed_to<Wanted>(ostraka::multiply(ostraka::map(ratio_or_zero{}, x.get(), length), of_row));
    else
      return summed_to<Wanted>(ostraka::map(ratio_or_zero{}, x.get(), length, of_row));
  }
};

/// For 16-bit elements, the mean and the elements' differences from it are computed in float, because the differences
/// would lose digits to a large mean.
template <bool Root, class A, class Result>
struct deviation_pullback {
  kept<true, A> x;
  kept<Root, Result> y;
  std::int64_t elements;
  int less;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using rows = reduced_rows_of<Result, A>;
    using element = typename A::value_type;
    auto const beyond = conjugated(without_mean<rows>(x.get()));
    double const freedom = static_cast<double>(elements > less ? elements - less : 0);
    using number = real_of<accumulator_of_t<element>>;
    auto const of_row = as<number>(reshard_as<rows>(g));
    if constexpr (Root) {
      auto const deviation = as<number>(reshard_as<rows>(y.get()));
      auto const slope = ostraka::map(ratio_or_zero{}, of_row, deviation);
      return summed_to<Wanted>(as<element>(multiply_alike(beyond, ostraka::scale(slope, 1 / freedom))));
    } else {
      return summed_to<Wanted>(as<element>(multiply_alike(beyond, ostraka::scale(of_row, 2 / freedom))));
    }
  }

 private:
  template <class T, class X>
  static constexpr auto as(X const& t) {
    if constexpr (std::is_same_v<typename X::value_type, T>)
      return t;
    else
      return ostraka::cast<T>(t);
  }

  template <class Rows, class X>
  constexpr auto without_mean(X const& t) const {
    auto const wide = as<accumulator_of_t<typename X::value_type>>(t);
    return ostraka::subtract(wide, ostraka::scale(sum_as<Rows>(wide), 1 / static_cast<double>(elements)));
  }
};

}  // namespace detail

template <reduction How, class Out>
struct derivative_of<operation::reduce<How, Out>> {
  template <class Result, class A, class... Policy>
  static constexpr auto pullback(operation::reduce<How, Out>, Result const& y, A const& x, Policy const&...) {
    if constexpr (How == reduction::prod)
      return detail::product_of_others_pullback<A, Result>{detail::remember(x),
                                                           detail::reduced_elements(x, axes_in<Result>{})};
    else
      return detail::extreme_pullback<A, Result>{detail::remember(x), detail::remember(y)};
  }
};

template <class Out>
struct derivative_of<operation::mean_where<Out>> {
  template <class A, class Mask>
  static constexpr auto composed(operation::mean_where<Out> const&, A const& a, Mask const& mask) {
    return detail::mean_of_counted<Out>(a, mask);
  }
};

template <class Out>
struct derivative_of<operation::norm<Out>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::norm<Out> const&, Result const& y, A const& x) {
    return detail::norm_pullback<A, Result>{detail::remember(x), detail::remember(y)};
  }
};

template <bool Root, class Out>
struct derivative_of<operation::mean_deviation<Root, Out>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::mean_deviation<Root, Out> const& operation, Result const& y, A const& x) {
    return detail::deviation_pullback<Root, A, Result>{detail::remember(x), detail::remember_if<Root>(y),
                                                       detail::reduced_elements(x, axes_in<Result>{}), operation.less};
  }
};

}  // namespace ostraka
